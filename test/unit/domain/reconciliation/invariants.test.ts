import type { Facts, HistoryRow, LedgerRow } from '../../../../src/domain/reconciliation/facts';
import { findViolations, INVARIANTS } from '../../../../src/domain/reconciliation/invariants';

const move = (
  taskVersion: number,
  from: HistoryRow['from'],
  type: string,
  to: HistoryRow['to'],
): HistoryRow => ({ taskId: 't1', type, from, to, taskVersion, ignoredReason: null });

const entry = (
  kind: LedgerRow['kind'],
  amount: bigint,
  businessKey: string,
  taskId: string | null = 't1',
): LedgerRow => {
  const available = {
    RESERVE: -1n,
    SETTLE: 0n,
    RELEASE: 1n,
    REFUND: 1n,
    GRANT: 1n,
    ADJUSTMENT: 1n,
  };
  const held = { RESERVE: 1n, SETTLE: -1n, RELEASE: -1n, REFUND: 0n, GRANT: 0n, ADJUSTMENT: 0n };
  return {
    tenantId: 'a',
    taskId,
    kind,
    amountMicros: amount,
    availableDelta: available[kind] * amount,
    heldDelta: held[kind] * amount,
    businessKey,
  };
};

const HISTORY: readonly HistoryRow[] = [
  move(1, null, 'created', 'CREATED'),
  move(2, 'CREATED', 'validation_started', 'VALIDATING'),
  move(3, 'VALIDATING', 'validation_passed', 'QUOTA_RESERVED'),
  move(4, 'QUOTA_RESERVED', 'queued', 'QUEUED'),
  move(5, 'QUEUED', 'dispatch_claimed', 'DISPATCHING'),
  move(6, 'DISPATCHING', 'submit_rejected', 'RETRY_WAIT'),
  move(7, 'RETRY_WAIT', 'retry_due', 'QUEUED'),
  move(8, 'QUEUED', 'dispatch_claimed', 'DISPATCHING'),
  move(9, 'DISPATCHING', 'provider_accepted', 'SUBMITTED'),
  move(10, 'SUBMITTED', 'provider_succeeded', 'OUTPUT_FETCHING'),
  move(11, 'OUTPUT_FETCHING', 'output_persisted', 'POST_PROCESSING'),
  move(12, 'POST_PROCESSING', 'playable_asset_ready', 'SUCCEEDED'),
];

/** One generation that was refused once, succeeded, and was refunded in part. */
const SOUND: Facts = {
  tasks: [{ id: 't1', status: 'SUCCEEDED', version: 12, currentAttemptNo: 2 }],
  attempts: [
    { id: 'a1', taskId: 't1', attemptNo: 1, status: 'FAILED_BEFORE_ACCEPT', jobId: null },
    { id: 'a2', taskId: 't1', attemptNo: 2, status: 'SUCCEEDED', jobId: 'j2' },
  ],
  history: [
    ...HISTORY,
    { ...move(12, 'SUCCEEDED', 'job_observed', 'SUCCEEDED'), ignoredReason: 'TERMINAL' },
  ],
  holds: [{ taskId: 't1', tenantId: 'a', amountMicros: 40n, status: 'CLOSED' }],
  ledger: [
    entry('GRANT', 100n, 'grant:x', null),
    entry('RESERVE', 40n, 'reserve:t1'),
    entry('SETTLE', 30n, 'settle:t1'),
    entry('RELEASE', 10n, 'release:t1'),
    entry('REFUND', 5n, 'refund:t1:1'),
  ],
  accounts: [{ tenantId: 'a', availableMicros: 75n, heldMicros: 0n }],
  pendingSettlements: [],
  providerJobs: [{ jobId: 'j2', attemptId: 'a2' }],
};

const [TASK, FIRST, SECOND, HOLD] = [
  SOUND.tasks[0]!,
  SOUND.attempts[0]!,
  SOUND.attempts[1]!,
  SOUND.holds[0]!,
];

/** Each line plants one wrong thing and names the invariants that must see it. */
const PLANTED: readonly (readonly [what: string, seenBy: string, plant: Partial<Facts>])[] = [
  [
    'a balance that was changed by hand',
    'balances_fold credits_add_up',
    { accounts: [{ tenantId: 'a', availableMicros: 76n, heldMicros: 0n }] },
  ],
  [
    'entries of nobody',
    'balances_fold credits_add_up',
    { accounts: [{ tenantId: 'b', availableMicros: 0n, heldMicros: 0n }] },
  ],
  [
    'an entry that makes credits',
    'credits_add_up',
    {
      ledger: SOUND.ledger.map((row) =>
        row.kind === 'RELEASE' ? { ...row, availableDelta: 11n } : row,
      ),
      accounts: [{ tenantId: 'a', availableMicros: 76n, heldMicros: 0n }],
    },
  ],
  [
    'a balance below zero',
    'balances_fold credits_add_up balances_not_negative',
    { accounts: [{ tenantId: 'a', availableMicros: -1n, heldMicros: 0n }] },
  ],
  [
    'credits held for no hold',
    'balances_fold held_is_open_holds',
    { accounts: [{ tenantId: 'a', availableMicros: 65n, heldMicros: 10n }] },
  ],
  [
    'an end with an open hold',
    'held_is_open_holds holds_follow_tasks closings_split_reserve',
    { holds: [{ ...HOLD, status: 'OPEN' }] },
  ],
  [
    'a second settlement',
    'balances_fold credits_add_up business_keys_unique hold_closed_once closings_split_reserve',
    { ledger: [...SOUND.ledger, entry('SETTLE', 30n, 'settle:t1')] },
  ],
  [
    'a release under another key',
    'balances_fold hold_closed_once closings_split_reserve',
    { ledger: [...SOUND.ledger, entry('RELEASE', 1n, 'release:t1:again')] },
  ],
  [
    'refunds of more than was settled',
    'refunds_within_settles',
    {
      ledger: [...SOUND.ledger, entry('REFUND', 26n, 'refund:t1:2')],
      accounts: [{ tenantId: 'a', availableMicros: 101n, heldMicros: 0n }],
    },
  ],
  [
    'a refund and an adjustment of more than was settled together',
    'refunds_within_settles',
    {
      ledger: [
        ...SOUND.ledger,
        { ...entry('ADJUSTMENT', 26n, 'adjustment:a2:1'), availableDelta: 26n, heldDelta: 0n },
      ],
      accounts: [{ tenantId: 'a', availableMicros: 101n, heldMicros: 0n }],
    },
  ],
  ['a version that nobody wrote', 'versions_contiguous', { tasks: [{ ...TASK, version: 13 }] }],
  [
    'a step that the table does not have',
    'history_is_path',
    {
      history: SOUND.history.map((row) =>
        row.taskVersion === 9 ? { ...row, type: 'output_persisted' } : row,
      ),
    },
  ],
  [
    'a history that ends elsewhere',
    'history_is_path attempt_beside_task holds_follow_tasks',
    { tasks: [{ ...TASK, status: 'SUBMITTED' }] },
  ],
  [
    'an end that was left',
    'versions_contiguous history_is_path terminals_sticky',
    { history: [...SOUND.history, move(13, 'SUCCEEDED', 'provider_running', 'RUNNING')] },
  ],
  [
    'a success beside a failed attempt',
    'attempt_beside_task',
    { attempts: [FIRST, { ...SECOND, status: 'FAILED' }] },
  ],
  [
    'an attempt the task does not know',
    'one_current_attempt',
    { attempts: [FIRST, SECOND, { ...SECOND, id: 'a3', attemptNo: 3, jobId: 'j3' }] },
  ],
  [
    'two attempts with one number',
    'attempt_beside_task one_current_attempt',
    { attempts: [FIRST, { ...SECOND, attemptNo: 1 }] },
  ],
  [
    'a job bound to two attempts',
    'one_job_per_attempt',
    { attempts: [{ ...FIRST, jobId: 'j2' }, SECOND] },
  ],
  [
    'an attempt that made two jobs',
    'one_job_per_attempt',
    { providerJobs: [...SOUND.providerJobs, { jobId: 'j9', attemptId: 'a2' }] },
  ],
  [
    'a newer attempt beside one in doubt',
    'no_blind_second_submit',
    { attempts: [{ ...FIRST, status: 'UNKNOWN' }, SECOND] },
  ],
  [
    'a second claim without a reason',
    'history_is_path no_blind_second_submit',
    {
      history: SOUND.history.map((row) =>
        row.taskVersion === 6 ? { ...row, type: 'lease_lost' } : row,
      ),
    },
  ],
];

describe('the invariants', () => {
  it('find nothing in sound facts', () => {
    expect(findViolations(SOUND)).toEqual([]);
  });

  it.each(PLANTED)('see %s: %s', (_what, seenBy, plant) => {
    const violations = findViolations({ ...SOUND, ...plant });
    const names = [...new Set(violations.map((each) => each.invariant))];
    expect(names.sort()).toEqual(seenBy.split(' ').sort());
    for (const { subject, detail } of violations) expect(`${subject}${detail}`).not.toBe('');
  });

  it('have each been seen to fire', () => {
    const fired = new Set(PLANTED.flatMap(([, seenBy]) => seenBy.split(' ')));
    expect(INVARIANTS.map(({ name }) => name).filter((name) => !fired.has(name))).toEqual([]);
  });

  it('know a hold that is missing, too early, or closed too soon', () => {
    const task = { ...TASK, status: 'QUEUED' as const };
    const namesFor = (facts: Partial<Facts>): string[] =>
      findViolations({ ...SOUND, ...facts })
        .filter((each) => each.invariant === 'holds_follow_tasks')
        .map((each) => each.detail);
    expect(namesFor({ tasks: [task] })).toEqual(['QUEUED with a closed hold']);
    expect(namesFor({ tasks: [task], holds: [] })).toEqual(['QUEUED with no hold']);
    const early = { ...TASK, status: 'VALIDATING' as const };
    expect(namesFor({ tasks: [early] })).toEqual(['VALIDATING with a hold']);
  });
});
