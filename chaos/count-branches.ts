import type { Pool } from 'pg';

import type { FaultFacts } from './do-fault';
import type { ClientFacts } from './drive-tasks';

/** Rare roads that a run must have taken to say anything, counted from what is stored. */
const STORED_BRANCHES: Readonly<Record<string, string>> = {
  'unknown submit that had a job': `
    SELECT count(DISTINCT u.task_id) FROM task_state_events u JOIN task_state_events f ON f.task_id = u.task_id
    WHERE u.to_status = 'SUBMIT_UNKNOWN' AND u.ignored_reason IS NULL AND f.from_status = 'SUBMIT_UNKNOWN'
      AND f.type IN ('provider_job_found', 'provider_accepted') AND f.ignored_reason IS NULL`,
  'unknown submit without one': `
    SELECT count(*) FROM task_state_events WHERE type = 'confirmed_not_created' AND ignored_reason IS NULL`,
  'callback before the answer': `
    SELECT count(*) FROM task_state_events e JOIN task_attempts a ON a.id = e.attempt_id
    WHERE e.source = 'callback' AND e.from_status IN ('DISPATCHING', 'SUBMIT_UNKNOWN') AND e.ignored_reason IS NULL`,
  'callback after a poll had finished': `
    SELECT count(DISTINCT p.id) FROM provider_events p
    JOIN task_state_events e ON e.attempt_id = p.attempt_id AND e.source = 'polling' AND e.ignored_reason IS NULL
      AND e.to_status IN ('OUTPUT_FETCHING', 'RETRY_WAIT', 'FAILED_FINAL', 'CANCELED')
    WHERE p.source = 'callback' AND p.status IN ('SUCCEEDED', 'FAILED', 'CANCELED', 'FILTERED')
      AND p.received_at > e.observed_at`,
  'cancel won': `SELECT count(*) FROM generation_tasks WHERE status = 'CANCELED' AND cancel_outcome = 'CONFIRMED'`,
  'cancel lost': `SELECT count(*) FROM generation_tasks WHERE cancel_outcome = 'TOO_LATE'`,
  'dead worker rescued': `
    SELECT (SELECT count(*) FROM task_state_events WHERE type = 'lease_lost' AND ignored_reason IS NULL)
      + (SELECT count(*) FROM findings WHERE kind = 'STUCK_TASK')`,
  'outbox repeat': `SELECT count(*) FROM outbox_events WHERE publish_attempts > 1`,
  'inbox hit': `
    SELECT count(*) FROM outbox_events o JOIN inbox_dedup i ON i.event_id = o.id
    WHERE o.publish_attempts > 1 AND o.status = 'PUBLISHED' AND i.handled_at < o.published_at
      AND NOT EXISTS (SELECT 1 FROM bus_messages b WHERE b.event_id = o.id)`,
  'refund after a settlement': `SELECT count(*) FROM credit_ledger WHERE kind = 'REFUND'`,
};

export interface Branch {
  readonly name: string;
  readonly count: number;
}

export const countBranches = async (
  pool: Pool,
  clients: ClientFacts,
  faults: FaultFacts,
): Promise<Branch[]> => {
  const stored: Branch[] = [];
  for (const [name, sql] of Object.entries(STORED_BRANCHES)) {
    const { rows } = await pool.query<Record<string, string>>(sql);
    stored.push({ name, count: Number(Object.values(rows[0] ?? {})[0] ?? 0) });
  }
  return [
    ...stored,
    { name: 'replay', count: clients.replays },
    { name: 'conflict', count: clients.conflicts },
    { name: 'stale fencing token refused', count: faults.staleTokensRefused },
    { name: 'Postgres restart in a commit', count: faults.stoppedInCommit },
  ];
};
