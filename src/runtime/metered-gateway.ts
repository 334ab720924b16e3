import type { Metrics } from '../ports/metrics';
import type { ProviderGateway } from '../ports/provider-gateway';
import type { Tracing } from '../ports/tracing';

/** Counts and traces what goes to a provider and what comes back; changes nothing of either. */
export const meteredGateway = (
  provider: string,
  gateway: ProviderGateway,
  metrics: Metrics,
  tracing: Pick<Tracing, 'span'>,
): ProviderGateway => {
  const timed = async <T>(operation: string, work: () => Promise<T>): Promise<T> => {
    const begunMs = performance.now();
    try {
      return await tracing.span({ name: `${provider} ${operation}`, kind: 'CLIENT' }, work);
    } finally {
      metrics.observe(
        'aivedio_provider_request_duration_seconds',
        { provider, operation },
        (performance.now() - begunMs) / 1_000,
      );
    }
  };
  return {
    submit: async (account, request) => {
      const outcome = await timed('submit', () => gateway.submit(account, request));
      metrics.count('aivedio_submissions_total', {
        provider,
        outcome: outcome.kind === 'REJECTED' ? outcome.failure : outcome.kind,
      });
      return outcome;
    },
    query: async (account, jobId) => {
      const outcome = await timed('query', () => gateway.query(account, jobId));
      metrics.count('aivedio_polls_total', { provider, outcome: outcome.kind });
      return outcome;
    },
    cancel: (account, jobId) => timed('cancel', () => gateway.cancel(account, jobId)),
    reconcile: (account, attempt) => timed('list', () => gateway.reconcile(account, attempt)),
    list: (account, since) => timed('list', () => gateway.list(account, since)),
    verifyCallback: (account, request) => {
      const verdict = gateway.verifyCallback(account, request);
      metrics.count('aivedio_callbacks_total', {
        provider,
        outcome: verdict.ok ? 'OK' : verdict.reason,
      });
      const saidAt = verdict.ok ? verdict.observation.providerUpdatedAt : null;
      if (saidAt !== null) {
        const lagMs = Math.max(0, request.now.getTime() - saidAt.getTime());
        metrics.observe('aivedio_callback_lag_seconds', { provider }, lagMs / 1_000);
      }
      return verdict;
    },
  };
};
