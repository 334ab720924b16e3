import type { RequestInput } from '../../domain/generation/normalize';
import { refuse, type CreateRefusal, type Refusal } from '../../domain/generation/refusals';
import { crashpoint } from '../../ports/crash-points';
import type { Quote } from '../../ports/stores/catalog-store';
import type { FlowContext } from '../flow-context';
import { hashOf, prepareRequest } from './prepare-request';

/**
 * Prices a request and keeps the price for a while; reserves nothing. A later create that names the quote is charged
 * exactly its price.
 */
export const quoteGeneration = async (
  context: FlowContext,
  input: { readonly tenantId: string; readonly request: RequestInput },
): Promise<{ readonly kind: 'QUOTED'; readonly quote: Quote } | Refusal<CreateRefusal>> => {
  const { stores } = context.uow;
  const tenant = await stores.catalog.readTenant(input.tenantId);
  if (tenant === null || tenant.status !== 'ACTIVE') {
    return refuse('TENANT_PAUSED', 'The account is paused; ask the operator.');
  }
  const prepared = await prepareRequest(stores, input.tenantId, input.request);
  if (prepared.kind === 'REFUSED') return prepared;
  const now = context.clock.now();
  const quote: Quote = {
    id: context.ids.next(now),
    tenantId: input.tenantId,
    // The seed has no price: a quote serves every seed.
    requestHash: hashOf({ ...prepared.request, seed: null }),
    model: prepared.offer.id,
    priceMicros: prepared.priceMicros,
    facts: {
      durationMs: prepared.request.durationMs,
      resolution: prepared.request.resolution,
      pricePerSecondMicros:
        prepared.offer.pricePerSecondMicros[prepared.request.resolution]?.toString() ?? null,
    },
    tier: tenant.tier,
    expiresAt: new Date(now.getTime() + context.settings.quoteMs),
  };
  await stores.quotes.insert(quote, now);
  crashpoint('create.after_quote_before_answer');
  return { kind: 'QUOTED', quote };
};
