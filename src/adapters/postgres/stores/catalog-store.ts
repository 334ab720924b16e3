import { CREDITS_PER_CURRENCY_UNIT } from '../../../domain/billing/pricing';
import type { ModelOffer } from '../../../domain/scheduling/routing';
import type {
  AccountRow,
  CatalogStore,
  CatalogSwitches,
  Provider,
  Quote,
  QuoteStore,
  Tenant,
} from '../../../ports/stores/catalog-store';
import type { Database, Place } from '../database';
import { toJson } from '../json-parameters';
import { run, runForOne } from '../run-statement';

export const createCatalogStore = (db: Database): CatalogStore => ({
  readTenant: (tenantId) => runForOne<Tenant>(db, 'read-tenant', { tenantId }),
  listModels: async () => (await run<ModelRow>(db, 'list-models', {})).map(toOffer),
  readModel: async (modelId) => {
    const row = await runForOne<ModelRow>(db, 'read-model', { modelId });
    return row === null ? null : toOffer(row);
  },
  readProvider: (providerId) => runForOne<Provider>(db, 'read-provider', { providerId }),
  listAccounts: () => run<AccountRow>(db, 'list-accounts', {}),
  readAccount: (accountId) => runForOne<AccountRow>(db, 'read-account', { accountId }),
  noteCircuit: async (accountId, failed, failuresMax, openUntil, now) => {
    const fate = { accountId, failed, failuresMax, openUntil, now };
    await run(db, 'note-circuit', fate, placeOf(accountId));
  },
  claimProbe: async (accountId, until, now) => {
    const probe = { accountId, until, now };
    const place = placeOf(accountId);
    return (await run(db, 'claim-circuit-probe-if-half-open', probe, place)).length > 0;
  },
  shrinkAccount: async (accountId, until, settledBefore, now) => {
    const shrunk = { accountId, until, settledBefore, now };
    await run(db, 'shrink-account-if-throttled', shrunk, placeOf(accountId));
  },
});

const placeOf = (accountId: string): Place => ({ rank: 'PROVIDER_ACCOUNT', key: accountId });

export const createCatalogSwitches = (db: Database): CatalogSwitches => ({
  lockProvider: (providerId) => runForOne<Provider>(db, 'lock-provider', { providerId }),
  setProviderStatus: async (providerId, status, now) => {
    await run(db, 'set-provider-status', { providerId, status, now });
  },
  lockTenant: (tenantId) => runForOne<Tenant>(db, 'lock-tenant', { tenantId }),
  setTenantStatus: async (tenantId, status) => {
    await run(db, 'set-tenant-status', { tenantId, status });
  },
});

/** Prices are rounded up to a whole micro-credit (src/domain/billing/pricing.ts). */
const ROUNDING = 'UP';

export const createQuoteStore = (db: Database): QuoteStore => ({
  insert: async (quote, now) => {
    await run(db, 'insert-quote', {
      ...quote,
      facts: toJson(quote.facts),
      exchangeRate: CREDITS_PER_CURRENCY_UNIT,
      rounding: ROUNDING,
      now,
    });
  },
  read: (quoteId) => runForOne<Quote>(db, 'read-quote', { quoteId }),
});

/** `price_per_second` is an object from resolution to micro-credits, as text or as a number. */
type ModelRow = Omit<ModelOffer, 'status' | 'pricePerSecondMicros'> & {
  readonly offerStatus: ModelOffer['status'];
  readonly pricePerSecond: Readonly<Record<string, string | number>>;
};

const toOffer = (row: ModelRow): ModelOffer => ({
  id: row.id,
  providerId: row.providerId,
  providerModel: row.providerModel,
  displayName: row.displayName,
  description: row.description,
  status: row.offerStatus,
  quality: row.quality,
  aspectRatios: row.aspectRatios,
  resolutions: row.resolutions,
  durationMsMin: row.durationMsMin,
  durationMsMax: row.durationMsMax,
  durationMsStep: row.durationMsStep,
  supportsImage: row.supportsImage,
  supportsAudio: row.supportsAudio,
  promptCharsMax: row.promptCharsMax,
  pricePerSecondMicros: Object.fromEntries(
    Object.entries(row.pricePerSecond).map(([resolution, micros]) => [resolution, BigInt(micros)]),
  ),
  costPerSecond: row.costPerSecond,
  costCurrency: row.costCurrency,
});
