import { toUuid } from '../../src/resolvers/public-id';
import { TERMINAL_STATUSES, type RunningProduct } from '../support/running-product';

/** The end that every interruption must come to, read from the database and from the provider's own log. */
export const expectOneJobOneCharge = async (
  product: RunningProduct,
  generationId: string,
): Promise<void> => {
  const id = toUuid('generation', generationId);
  const status = await product
    .untilStatus(generationId, TERMINAL_STATUSES, 90_000)
    .catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${await describeState(product, id)}`);
    });
  const { rows: kinds } = await product.pool.query<{ kind: string; count: number }>(
    'SELECT kind, count(*)::int FROM credit_ledger WHERE task_id = $1 GROUP BY kind ORDER BY kind',
    [id],
  );
  const { rows: attempts } = await product.pool.query<{ request_key: string; status: string }>(
    'SELECT request_key, status FROM task_attempts WHERE task_id = $1',
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
  // A death just before the request left leaves an attempt whose absence is confirmed, and another that makes the job.
  const accepted = attempts.filter((attempt) => attempt.status !== 'FAILED_BEFORE_ACCEPT');
  expect({ status, kinds, jobs: jobs.length, accepted: accepted.length }).toEqual({
    status: 'SUCCEEDED',
    kinds: [
      { kind: 'RESERVE', count: 1 },
      { kind: 'SETTLE', count: 1 },
    ],
    jobs: 1,
    accepted: 1,
  });
  expect(events.map((event) => event.task_version)).toEqual(events.map((_, index) => index + 1));
};

/** Where the generation stands and what waits for whom: what a person would look at first. */
const describeState = async (product: RunningProduct, id: string | null): Promise<string> => {
  const read = async (sql: string, values: readonly unknown[]): Promise<string> => {
    const { rows } = await product.pool.query(sql, [...values]);
    return rows.map((row) => JSON.stringify(row)).join('\n');
  };
  return [
    await read(
      'SELECT status, version, updated_at, next_retry_at, wait_reason FROM generation_tasks WHERE id = $1',
      [id],
    ),
    await read(
      'SELECT status, job_id, lease_until, next_poll_at, poll_errors FROM task_attempts WHERE task_id = $1',
      [id],
    ),
    await read(
      "SELECT consumer_group, type, status, deliveries, available_at, last_error FROM bus_messages WHERE envelope->'payload'->>'taskId' = $1",
      [id],
    ),
    await read(
      "SELECT type, status, available_at FROM outbox_events WHERE aggregate_id = $1 AND status <> 'PUBLISHED'",
      [id],
    ),
    await read('SELECT clock_timestamp() AS now', []),
  ].join('\n');
};
