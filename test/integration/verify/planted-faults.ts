import type { Evidence } from '../../../src/ports/verification';

/** One thing that is wrong, and which invariants say so. */
export interface PlantedFault {
  readonly invariant: string;
  /** Others that cannot but see it too. */
  readonly alsoSeenBy?: readonly string[];
  readonly what: string;
  /** Run as superuser with triggers off; checks that stand in the way are put back for new rows. */
  readonly sql?: string;
  readonly evidence?: (evidence: readonly Evidence[]) => readonly Evidence[];
}

const WINNER = `(SELECT min(id::text)::uuid FROM generation_tasks WHERE status = 'SUCCEEDED')`;
const RETRIED = `(SELECT id FROM generation_tasks WHERE current_attempt_no = 2)`;
const UNSENT = `(SELECT id FROM generation_tasks WHERE cancel_outcome = 'BEFORE_SUBMIT')`;
const LIVE = `(SELECT task_id FROM holds WHERE status = 'OPEN')`;
const RICH = `(SELECT tenant_id FROM generation_tasks LIMIT 1)`;

/** Ordered by somebody, as the audit log says of every grant and refund. */
const entry = (kind: string, amount: string, available: string, held: string, task = 'NULL') =>
  `WITH entry AS (
     INSERT INTO credit_ledger
     SELECT p.id, ${RICH}, ${task}, NULL, '${kind}', ${amount}, ${available}, ${held}, 'MICRO_CREDIT',
       CASE '${kind}' WHEN 'GRANT' THEN 'grant:' || ${RICH} || ':' WHEN 'REFUND' THEN 'refund:' || ${task} || ':ref:'
         ELSE 'planted:' END || p.id, 'planted', 'test', '2026-12-01'
     FROM (SELECT gen_random_uuid() AS id) AS p
     RETURNING *
   )
   INSERT INTO audit_log (id, tenant_id, actor, action, subject_kind, subject_id, reason, after, created_at)
   SELECT id, tenant_id, actor, 'credits.' || lower(kind), 'TENANT', coalesce(task_id, tenant_id)::text, reason,
     jsonb_build_object('amountMicros', amount_micros::text, 'reference', id), created_at
   FROM entry WHERE kind IN ('GRANT', 'REFUND')`;
const account = (available: string, held = '0') =>
  `UPDATE accounts SET available_micros = available_micros + ${available}, held_micros = held_micros + ${held}
   WHERE tenant_id = ${RICH}`;
const spent = (micros: string) =>
  `UPDATE spend_limits SET spent_micros = spent_micros + ${micros} WHERE tenant_id = ${RICH}`;
const unguarded = (table: string, constraint: string, check: string, ...statements: string[]) =>
  [
    `ALTER TABLE ${table} DROP CONSTRAINT ${constraint}`,
    ...statements,
    `ALTER TABLE ${table} ADD CONSTRAINT ${constraint} CHECK (${check}) NOT VALID`,
  ].join(';\n');

const without =
  (kind: Evidence['kind'], count = 1) =>
  (evidence: readonly Evidence[]): readonly Evidence[] => {
    const gone = evidence.filter((each) => each.kind === kind).slice(0, count);
    return evidence.filter((each) => !gone.includes(each));
  };
const withMore =
  (change: (first: Evidence) => Evidence, kind: Evidence['kind']) =>
  (evidence: readonly Evidence[]): readonly Evidence[] => [
    ...evidence,
    ...evidence
      .filter((each) => each.kind === kind)
      .slice(0, 1)
      .map(change),
  ];

/** The first of a kind whose key ends so. */
const changed =
  (kind: Evidence['kind'], ending: string, change: (first: Evidence) => Partial<Evidence>) =>
  (evidence: readonly Evidence[]): readonly Evidence[] => {
    const first = evidence.find((each) => each.kind === kind && each.reference?.endsWith(ending));
    if (first === undefined) throw new Error(`Nothing stored ends in ${ending}`);
    return evidence.map((each) => (each === first ? { ...each, ...change(each) } : each));
  };

/** What a store outside of the database says that it holds, long over. */
const slot = (kind: Evidence['kind'], reference: string, amount: string | null): Evidence => ({
  ...{ kind, reference, amount },
  id: '7',
  at: new Date('2020-01-01T00:00:00Z'),
});
const withSlots =
  (...more: readonly Evidence[]) =>
  (evidence: readonly Evidence[]): readonly Evidence[] => [...evidence, ...more];

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  {
    invariant: 'balances_fold',
    what: 'credits moved from one account to another by hand',
    sql: `UPDATE accounts SET available_micros = available_micros + CASE tenant_id WHEN ${RICH} THEN 5 ELSE -5 END`,
  },
  {
    invariant: 'credits_add_up',
    alsoSeenBy: ['amounts_as_moved'],
    what: 'a grant of more than it says',
    sql: unguarded(
      'credit_ledger',
      'credit_ledger_deltas_check',
      'true',
      entry('GRANT', '10', '20', '0'),
      account('20'),
    ),
  },
  {
    invariant: 'balances_not_negative',
    what: 'an account overdrawn by an adjustment that somebody ordered',
    sql: unguarded(
      'accounts',
      'accounts_available_check',
      'available_micros >= 0',
      `WITH entry AS (
         INSERT INTO credit_ledger
         SELECT gen_random_uuid(), tenant_id, NULL, NULL, 'ADJUSTMENT', available_micros + 1, -available_micros - 1, 0,
           'MICRO_CREDIT', 'adjustment:' || tenant_id || ':ref:planted', 'planted', 'test', '2026-12-01'
         FROM accounts WHERE tenant_id = ${RICH}
         RETURNING *
       )
       INSERT INTO audit_log (id, tenant_id, actor, action, subject_kind, subject_id, reason, after, created_at)
       SELECT id, tenant_id, actor, 'credits.adjust', 'TENANT', tenant_id::text, reason,
         jsonb_build_object('deltaMicros', available_delta::text, 'reference', 'planted'), created_at FROM entry`,
      `UPDATE accounts SET available_micros = -1 WHERE tenant_id = ${RICH}`,
    ),
  },
  {
    invariant: 'held_is_open_holds',
    what: 'credits held for no hold',
    sql: `${entry('RESERVE', '5', '-5', '5')}; ${account('-5', '5')}`,
  },
  {
    invariant: 'holds_follow_tasks',
    what: 'a living generation whose hold is gone with its reservation',
    sql: `UPDATE accounts SET available_micros = available_micros + h.amount_micros,
            held_micros = held_micros - h.amount_micros
          FROM holds h WHERE h.task_id = ${LIVE} AND accounts.tenant_id = h.tenant_id;
          ${spent(`-(SELECT sum(amount_micros) FROM holds WHERE status = 'OPEN')`)};
          DELETE FROM credit_ledger WHERE task_id = ${LIVE};
          DELETE FROM holds WHERE status = 'OPEN'`,
  },
  {
    invariant: 'hold_closed_once',
    what: 'a release in two parts',
    sql: `UPDATE credit_ledger SET amount_micros = amount_micros - 1, available_delta = available_delta - 1,
            held_delta = held_delta + 1 WHERE task_id = ${UNSENT} AND kind = 'RELEASE';
          ${entry('RELEASE', '1', '1', '-1', UNSENT)}`,
  },
  {
    invariant: 'closings_split_reserve',
    what: 'a hold of more than was reserved',
    sql: `UPDATE holds SET amount_micros = amount_micros + 1 WHERE task_id = ${UNSENT}`,
  },
  {
    invariant: 'refunds_within_settles',
    what: 'more paid back than was paid',
    sql: `${entry('REFUND', '6000000', '6000000', '0', WINNER)}; ${account('6000000')}; ${spent('-6000000')}`,
  },
  {
    invariant: 'business_keys_unique',
    alsoSeenBy: ['guards_stand'],
    what: 'a movement booked twice',
    sql: `ALTER TABLE credit_ledger DROP CONSTRAINT IF EXISTS credit_ledger_business_key_key;
          DROP INDEX IF EXISTS credit_ledger_business_key_key;
          ${entry('GRANT', '1', '1', '0')}; ${account('1')};
          INSERT INTO credit_ledger SELECT gen_random_uuid(), tenant_id, task_id, attempt_id, kind, amount_micros, available_delta,
            held_delta, unit, business_key, reason, actor, created_at FROM credit_ledger WHERE reason = 'planted'; ${account('1')}`,
  },
  {
    invariant: 'versions_contiguous',
    what: 'a version that nobody wrote',
    sql: `UPDATE generation_tasks SET version = version + 1 WHERE id = ${WINNER}`,
  },
  {
    invariant: 'history_is_path',
    what: 'a step that the table does not have',
    sql: `UPDATE task_state_events SET type = 'retry_due' WHERE task_id = ${WINNER} AND type = 'output_persisted'`,
  },
  {
    invariant: 'terminals_sticky',
    alsoSeenBy: ['history_is_path'],
    what: 'an end that was left',
    sql: `INSERT INTO task_state_events (event_id, task_id, tenant_id, source, type, from_status, to_status, task_version, observed_at)
          SELECT uuid7_floor(updated_at + interval '1 second'), id, tenant_id, 'admin', 'provider_running', 'SUCCEEDED', 'RUNNING',
            version + 1, updated_at FROM generation_tasks WHERE id = ${WINNER};
          UPDATE generation_tasks SET version = version + 1 WHERE id = ${WINNER}`,
  },
  {
    invariant: 'attempt_beside_task',
    what: 'a success beside a failed attempt',
    sql: `UPDATE task_attempts SET status = 'FAILED' WHERE task_id = ${WINNER}`,
  },
  {
    invariant: 'one_current_attempt',
    what: 'an attempt that its generation does not know',
    sql: `INSERT INTO task_attempts
          SELECT (jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid(), 'attempt_no', 2, 'job_id', NULL,
            'cost_amount', NULL, 'status', 'FAILED', 'request_key', 'planted'))).*
          FROM task_attempts a WHERE task_id = ${WINNER}`,
  },
  {
    invariant: 'one_job_per_attempt',
    what: 'two jobs for one attempt, by the provider’s log',
    evidence: withMore((job) => ({ ...job, id: 'vid_second' }), 'job'),
  },
  {
    invariant: 'no_blind_second_submit',
    what: 'a second attempt beside a first in doubt',
    sql: `UPDATE task_attempts SET status = 'UNKNOWN' WHERE task_id = ${RETRIED} AND attempt_no = 1`,
  },
  {
    invariant: 'entries_append_only',
    what: 'a ledger that lets entries be changed',
    sql: 'ALTER TABLE credit_ledger DISABLE TRIGGER credit_ledger_append_only',
  },
  ...['audit_log', 'provider_costs', 'provider_invoices', 'moderation_decisions'].map((table) => ({
    invariant: 'entries_append_only',
    what: `${table} that can be emptied`,
    sql: `DROP TRIGGER ${table}_no_truncate ON ${table}`,
  })),
  {
    invariant: 'law_is_held',
    what: 'a move that the database lets pass',
    sql: `INSERT INTO task_status_pairs VALUES ('CANCELED', 'QUEUED')`,
  },
  {
    invariant: 'guards_stand',
    what: 'a unique key that is gone',
    sql: 'DROP INDEX task_attempts_provider_id_job_id_key',
  },
  {
    invariant: 'settled_as_told',
    what: 'a cost told that was not booked',
    sql: `UPDATE generation_tasks SET settled_micros = settled_micros - 1 WHERE id = ${WINNER}`,
  },
  {
    invariant: 'end_matches_money',
    what: 'a success for less than its price',
    sql: `UPDATE holds SET settled_micros = settled_micros - 1 WHERE task_id = ${WINNER};
          UPDATE generation_tasks SET settled_micros = settled_micros - 1 WHERE id = ${WINNER};
          UPDATE credit_ledger SET amount_micros = amount_micros - 1, held_delta = held_delta + 1
          WHERE task_id = ${WINNER} AND kind = 'SETTLE';
          ${entry('RELEASE', '1', '1', '-1', WINNER)}; ${account('1')}; ${spent('-1')}`,
  },
  {
    invariant: 'end_matches_money',
    what: 'a success whose price was raised afterwards',
    sql: `UPDATE generation_tasks SET price_micros = price_micros + 1000000 WHERE id = ${RETRIED}`,
  },
  {
    invariant: 'end_matches_money',
    what: 'a success that was quoted for less',
    sql: `UPDATE quotes SET price_micros = price_micros - 1`,
  },
  {
    invariant: 'end_matches_money',
    what: 'a success that waits for its settlement and whose price was raised',
    sql: `UPDATE generation_tasks SET settled_micros = NULL, price_micros = price_micros + 1 WHERE id = ${RETRIED};
          DELETE FROM credit_ledger WHERE task_id = ${RETRIED} AND kind = 'SETTLE';
          UPDATE holds SET status = 'OPEN', settled_micros = NULL, close_reason = NULL, closed_at = NULL WHERE task_id = ${RETRIED};
          UPDATE accounts SET held_micros = held_micros + h.amount_micros FROM holds h
          WHERE h.task_id = ${RETRIED} AND accounts.tenant_id = h.tenant_id;
          INSERT INTO outbox_events SELECT (jsonb_populate_record(o, jsonb_build_object('id', uuid7_floor(o.occurred_at),
            'type', 'billing.settlement.requested', 'aggregate_id', ${RETRIED}, 'status', 'PENDING'))).*
          FROM outbox_events o ORDER BY id DESC LIMIT 1`,
  },
  {
    invariant: 'amounts_as_moved',
    what: 'a correction of more than it moved',
    sql: unguarded(
      'credit_ledger',
      'credit_ledger_deltas_check',
      'true',
      `UPDATE credit_ledger SET available_delta = 0 WHERE kind = 'ADJUSTMENT' AND attempt_id IS NULL`,
      account('-2000'),
      `UPDATE audit_log SET after = after || '{"deltaMicros": "0"}' WHERE action = 'credits.adjust' AND subject_kind = 'TENANT'`,
    ),
  },
  ...(['grant', 'refund', 'adjust'] as const).map((what) => ({
    invariant: 'movements_have_cause',
    what: `a credits.${what} that is not in the audit log`,
    sql: `DELETE FROM audit_log WHERE id = (SELECT id FROM audit_log WHERE action = 'credits.${what}' ORDER BY id DESC LIMIT 1)`,
  })),
  {
    invariant: 'movements_have_cause',
    what: 'a correction by an invoice of more than its item says',
    sql: `UPDATE provider_invoice_items SET adjusted_micros = adjusted_micros / 2 WHERE adjustment = 'BOOKED'`,
  },
  {
    invariant: 'movements_have_cause',
    what: 'a second refund of which one is in the audit log',
    sql: `DELETE FROM audit_log WHERE id = (SELECT id FROM audit_log WHERE action = 'credits.refund' ORDER BY id LIMIT 1)`,
  },
  {
    invariant: 'movements_have_cause',
    what: 'credits of a first start for a tenant that was not the first',
    sql: `UPDATE credit_ledger SET business_key = 'grant:first-start:' || tenant_id, reason = 'First start', actor = 'start'
          WHERE kind = 'GRANT' AND tenant_id <> ${RICH}`,
  },
  {
    invariant: 'limits_fold',
    what: 'a limit that forgot what was spent',
    sql: 'UPDATE spend_limits SET spent_micros = 0',
  },
  {
    invariant: 'costs_booked',
    what: 'a charge of an attempt in no book',
    sql: `DELETE FROM provider_costs WHERE source = 'ATTEMPT' AND attempt_id IN (SELECT id FROM task_attempts WHERE task_id = ${RETRIED})`,
  },
  {
    invariant: 'costs_booked',
    what: 'an item of an invoice in no book',
    sql: `DELETE FROM provider_costs WHERE source = 'INVOICE' AND attempt_id IS NULL`,
  },
  {
    invariant: 'success_has_output',
    what: 'a success without an output',
    sql: `UPDATE generation_tasks SET output_asset_id = NULL WHERE id = ${WINNER}`,
  },
  {
    invariant: 'success_has_output',
    what: 'a success that points to the output of another',
    sql: `UPDATE generation_tasks SET output_asset_id = (SELECT output_asset_id FROM generation_tasks WHERE id = ${RETRIED})
          WHERE id = ${WINNER}`,
  },
  {
    invariant: 'success_has_output',
    what: 'a success that points to its poster',
    sql: `UPDATE generation_tasks SET output_asset_id = (SELECT id FROM assets WHERE task_id = ${WINNER} AND kind = 'THUMBNAIL')
          WHERE id = ${WINNER}`,
  },
  ...['FAILED', 'REJECTED', 'PROCESSING'].flatMap((status) =>
    ['PROXY', 'RAW_OUTPUT'].map((kind) => ({
      invariant: 'success_is_playable',
      what: `a success whose ${kind} is ${status}`,
      sql: `UPDATE assets SET status = '${status}' WHERE task_id = ${WINNER} AND kind = '${kind}'`,
    })),
  ),
  {
    invariant: 'cancel_agrees_with_end',
    what: 'a success whose cancel was confirmed',
    sql: `UPDATE generation_tasks SET cancel_outcome = 'CONFIRMED', cancel_requested_at = updated_at WHERE id = ${WINNER}`,
  },
  {
    invariant: 'events_applied_once',
    what: 'two moves by one observation',
    sql: `UPDATE task_state_events SET source_event_id = 'planted' WHERE task_id = ${RETRIED} AND type = 'dispatch_claimed'`,
  },
  {
    invariant: 'facts_have_tasks',
    what: 'history of nothing',
    sql: `INSERT INTO task_state_events (event_id, task_id, tenant_id, source, type, to_status, task_version, observed_at)
          SELECT uuid7_floor(updated_at + interval '2 seconds'), gen_random_uuid(), tenant_id, 'admin', 'created', 'CREATED', 1,
            updated_at FROM generation_tasks LIMIT 1`,
  },
  {
    invariant: 'outbox_delivered',
    what: 'a published message that its reader never had',
    sql: `DELETE FROM inbox_dedup WHERE consumer_group = 'reducer' AND event_id = (
            SELECT event_id FROM inbox_dedup WHERE consumer_group = 'reducer' LIMIT 1)`,
  },
  {
    invariant: 'outbox_delivered',
    what: 'a message that waits for a version that knows its type',
    sql: `UPDATE outbox_events SET type = 'from.tomorrow', status = 'PENDING', published_at = NULL WHERE id = (
            SELECT id FROM outbox_events WHERE type = 'task.status.changed' ORDER BY id LIMIT 1)`,
  },
  {
    invariant: 'no_dead_messages',
    what: 'a message that was given up',
    sql: `INSERT INTO bus_messages (consumer_group, event_id, type, envelope, status, available_at, deliveries, created_at)
          SELECT 'reducer', id, type, '{}', 'DEAD', available_at, 20, available_at FROM outbox_events LIMIT 1`,
  },
  {
    invariant: 'slots_counted',
    what: 'a scope that counts too many',
    sql: `UPDATE slot_scopes SET in_use = in_use + 1 WHERE scope = 'platform'`,
  },
  {
    invariant: 'slots_within_limits',
    what: 'more in use than allowed',
    sql: `UPDATE slot_scopes SET limit_max = 0 WHERE scope = 'platform'`,
  },
  {
    invariant: 'slots_have_holders',
    what: 'a slot of an attempt that has ended',
    sql: `INSERT INTO slot_leases (holder, scopes, token, expires_at, created_at)
          SELECT id, '{}', 999, updated_at, updated_at FROM task_attempts WHERE task_id = ${WINNER}`,
  },
  {
    invariant: 'slots_counted',
    what: 'a scope that another store counts without leases',
    evidence: withSlots(slot('slots_used', 'platform', '1'), slot('slots_limit', 'platform', '9')),
  },
  {
    invariant: 'slots_counted',
    what: 'a lease that another store does not count',
    evidence: withSlots(slot('slot_lease_scope', 'platform', null)),
  },
  {
    invariant: 'slots_within_limits',
    what: 'more in use in another store than allowed',
    evidence: withSlots(
      slot('slots_used', 'platform', '1'),
      slot('slots_limit', 'platform', '0'),
      slot('slot_lease_scope', 'platform', null),
    ),
  },
  {
    invariant: 'slots_have_holders',
    what: 'a slot in another store that nobody holds',
    evidence: withSlots(slot('slot_lease', '00000000-0000-7000-8000-000000000000', null)),
  },
  {
    invariant: 'tenants_apart',
    what: 'a prompt that belongs to another tenant',
    sql: `UPDATE generation_requests SET tenant_id = (SELECT id FROM tenants WHERE id <> ${RICH}) WHERE task_id = ${WINNER}`,
  },
  {
    invariant: 'uploads_end',
    what: 'an upload that nobody closed',
    sql: `UPDATE upload_sessions SET expires_at = expires_at - interval '1 day'`,
  },
  {
    invariant: 'no_secret_in_rows',
    what: 'a signed URL in a finding',
    sql: `INSERT INTO findings (id, kind, subject_kind, subject_id, business_key, detail, first_seen_at, last_seen_at)
          VALUES (gen_random_uuid(), 'STUCK_TASK', 'task', 'x', 'planted',
            '{"url": "http://h/o?expires=1&signature=abcdefghijklmnop"}', '2026-12-01', '2026-12-01')`,
  },
  {
    invariant: 'one_submit_per_attempt',
    what: 'two creates for one attempt, by the provider’s log',
    evidence: withMore((post) => post, 'post'),
  },
  {
    invariant: 'provider_jobs_linked',
    what: 'a job that no attempt asked for',
    evidence: withMore((job) => ({ ...job, id: 'vid_foreign', reference: 'foreign' }), 'job'),
  },
  {
    invariant: 'bound_jobs_exist',
    what: 'an attempt bound to a job that never was',
    evidence: without('job'),
  },
  {
    invariant: 'charges_linked',
    what: 'a charge for nobody',
    evidence: withMore((charge) => ({ ...charge, id: 'chg_x', reference: 'foreign' }), 'charge'),
  },
  {
    invariant: 'costs_as_charged',
    what: 'a cost booked too high',
    sql: `UPDATE provider_costs SET amount = amount + 0.0001
          WHERE id = (SELECT id FROM provider_costs WHERE amount > 0 AND source = 'ATTEMPT' LIMIT 1)`,
  },
  {
    invariant: 'ready_assets_stored',
    what: 'a playable asset whose bytes are gone',
    evidence: (evidence) =>
      evidence.filter(
        ({ kind, reference }) =>
          !['object', 'bytes'].includes(kind) || !reference?.endsWith('/proxy.mp4'),
      ),
  },
  {
    invariant: 'no_orphan_objects',
    what: 'an object that no asset knows',
    evidence: (evidence) => [
      ...evidence,
      ...evidence
        .filter(({ reference }) => reference?.endsWith('/proxy.mp4'))
        .slice(0, 1)
        .map((object) => ({ ...object, reference: `${object.reference}.part` })),
    ],
  },
  {
    invariant: 'no_leftover_parts',
    what: 'parts of an upload that was closed',
    sql: `UPDATE upload_sessions SET status = 'ABORTED' WHERE method = 'PARTS';
          UPDATE assets SET status = 'FAILED' WHERE id IN (SELECT asset_id FROM upload_sessions WHERE method = 'PARTS')`,
  },
  {
    invariant: 'stored_as_told',
    what: 'a proxy that is shorter than its row says',
    evidence: changed('object', '/proxy.mp4', ({ amount }) => ({
      amount: String(Number(amount) - 1),
    })),
  },
  {
    invariant: 'stored_as_told',
    what: 'a playlist whose segment lost bytes',
    evidence: changed('object', '.ts', ({ amount }) => ({ amount: String(Number(amount) - 1) })),
  },
  {
    invariant: 'stored_as_told',
    alsoSeenBy: ['bytes_as_told'],
    what: 'a raw output with the checksum of another in its row',
    sql: `UPDATE assets SET sha256 = repeat('0', 64) WHERE task_id = ${WINNER} AND kind = 'RAW_OUTPUT'`,
  },
  ...['/proxy.mp4', '.ts', '-0'].map((ending) => ({
    invariant: 'bytes_as_told',
    what: `other bytes of the same size at ${ending}`,
    evidence: changed('bytes', ending, () => ({ id: '0'.repeat(64) })),
  })),
];
