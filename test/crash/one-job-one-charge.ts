import { toUuid } from '../../src/resolvers/public-id';
import { TERMINAL_STATUSES, type RunningProduct } from '../support/running-product';

/** The end that every interruption must come to, read from the database and from the provider's own log. */
export const expectOneJobOneCharge = async (
  product: RunningProduct,
  generationId: string,
): Promise<void> => {
  const status = await product.untilStatus(generationId, TERMINAL_STATUSES, 120_000);
  const id = toUuid('generation', generationId);
  const { rows: kinds } = await product.pool.query<{ kind: string; count: number }>(
    'SELECT kind, count(*)::int FROM credit_ledger WHERE task_id = $1 GROUP BY kind ORDER BY kind',
    [id],
  );
  const { rows: attempts } = await product.pool.query<{ request_key: string }>(
    'SELECT request_key FROM task_attempts WHERE task_id = $1',
    [id],
  );
  const { rows: events } = await product.pool.query<{ task_version: number }>(
    'SELECT task_version FROM task_state_events WHERE task_id = $1 AND ignored_reason IS NULL ORDER BY event_id',
    [id],
  );
  const keys = new Set(attempts.map((attempt) => attempt.request_key));
  const jobs = (await product.sandboxJobs()).filter(
    (job) => job.reference !== null && keys.has(job.reference),
  );
  expect({ status, kinds, jobs: jobs.length, attempts: attempts.length }).toEqual({
    status: 'SUCCEEDED',
    kinds: [
      { kind: 'RESERVE', count: 1 },
      { kind: 'SETTLE', count: 1 },
    ],
    jobs: 1,
    attempts: 1,
  });
  expect(events.map((event) => event.task_version)).toEqual(events.map((_, index) => index + 1));
};
