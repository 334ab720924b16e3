import type { ConsumerGroup } from '../../../src/ports/messages';
import type { Flow } from '../flow-harness';

export const ORDER = { actor: 'api_key:operator', reason: 'seen in the console' };
export const NOBODY = '00000000-0000-7000-8000-000000000000';

export interface Audited {
  readonly action: string;
  readonly subject: string;
  readonly reason: string | null;
  /** The code of the refusal; null where it was done. */
  readonly refused: string | null;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** The audit log of operators, in order. */
export const auditOf = async (flow: Flow): Promise<Audited[]> =>
  (await flow.look(
    `SELECT action, subject_kind AS subject, reason, after->>'refused' AS refused, before, after
     FROM audit_log ORDER BY created_at, id`,
  )) as unknown as Audited[];

/** Expects a refusal that changed no row and left exactly one audit row with its code. */
export const expectRefused = async (
  flow: Flow,
  code: string,
  attempt: () => Promise<unknown>,
): Promise<void> => {
  const before = await stateOf(flow);
  const audited = (await auditOf(flow)).length;
  expect(await attempt()).toMatchObject({ kind: 'REFUSED', code });
  expect(await stateOf(flow)).toEqual(before);
  const added = (await auditOf(flow)).slice(audited);
  expect(added.map(({ refused }) => refused)).toEqual(code === 'NOT_FOUND' ? [] : [code]);
};

const TABLES = [
  'generation_tasks',
  'task_attempts',
  'assets',
  'accounts',
  'holds',
  'credit_ledger',
  'findings',
  'outbox_events',
  'bus_messages',
  'providers',
  'tenants',
  'moderation_decisions',
  'task_state_events',
  'spend_limits',
  'provider_costs',
  'provider_invoices',
  'provider_invoice_items',
];

/** Everything that an action could change, row for row. */
const stateOf = async (flow: Flow): Promise<readonly unknown[]> =>
  Promise.all(
    TABLES.map((table) => flow.look(`SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY t::text`)),
  );

/** The group's consumer fails with what is due, and will try again much later; answers how many messages wait now. */
export const letBackOff = async (flow: Flow, group: ConsumerGroup): Promise<number> => {
  const now = flow.clock.now();
  const taken = await flow.bus.receive(group, { max: 10, leaseMs: 60_000, now });
  const later = new Date(now.getTime() + 3_600_000);
  for (const delivery of taken) await flow.bus.retryLater(group, delivery, later, 'it is away');
  return taken.length;
};

const DELIVERIES = 50;

/** Delivers in vain until the group gives its due message up; answers the message's id. */
export const letDie = async (flow: Flow, group: ConsumerGroup): Promise<string> => {
  for (let tries = 0; tries < DELIVERIES; tries += 1) {
    const options = { max: 1, leaseMs: 60_000, now: flow.clock.now() };
    for (const delivery of await flow.bus.receive(group, options))
      await flow.bus.retryLater(group, delivery, flow.clock.now(), 'the consumer is broken');
  }
  const dead = await flow.look(`SELECT event_id FROM bus_messages WHERE status = 'DEAD'`);
  expect(dead).toHaveLength(1);
  return String(dead[0]?.['event_id']);
};
