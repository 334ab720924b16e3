import { refuse } from '../../domain/generation/refusals';
import type { Provider } from '../../ports/stores/catalog-store';
import type { FlowContext } from '../flow-context';
import { act, done, type Acted, type OperatorOrder } from './operator-action';

export type PauseRefusal = 'ALREADY_PAUSED' | 'NOT_PAUSED';

/**
 * Closes a provider for submits, or opens it again. What it has goes on: queries, callbacks, cancels and fetches never ask. What
 * waits for it stays QUEUED and says why, until its own deadline.
 * @param ringScheduler after a resume: what waited may go
 */
export const switchProvider = async (
  context: FlowContext,
  ringScheduler: () => void,
  providerId: string,
  order: OperatorOrder & { readonly to: Provider['status'] },
): Promise<Acted<Provider, PauseRefusal>> => {
  const { to } = order;
  const acted = await act(
    context,
    to === 'PAUSED' ? 'provider.pause' : 'provider.resume',
    order,
    async (tx) => {
      const provider = await tx.switches.lockProvider(providerId);
      if (provider === null) return null;
      const before = { status: provider.status };
      return { kind: 'PROVIDER', id: provider.id, tenantId: null, before, row: provider };
    },
    async (tx, provider) => {
      if (provider.status === to) return refusalOf(to, 'providerId');
      await tx.switches.setProviderStatus(provider.id, to, context.clock.now());
      return done({ ...provider, status: to }, { status: to });
    },
  );
  if (acted.kind === 'DONE' && to === 'ACTIVE') ringScheduler();
  return acted;
};

export const refusalOf = (to: Provider['status'], field: string) =>
  to === 'PAUSED'
    ? refuse('ALREADY_PAUSED', 'It is paused.', field)
    : refuse('NOT_PAUSED', 'It is not paused.', field);
