import { isTerminal } from '../generation/statuses';
import type { Micros } from '../kernel/money';
import { groupBy, invariant, type Facts, type Invariant, type LedgerRow } from './facts';

type Found = [subject: string, detail: string][];

const sum = (rows: readonly LedgerRow[], of: (row: LedgerRow) => Micros): Micros =>
  rows.reduce((total, row) => total + of(row), 0n);

const sumKind = (rows: readonly LedgerRow[], kind: LedgerRow['kind']): Micros =>
  sum(
    rows.filter((row) => row.kind === kind),
    (row) => row.amountMicros,
  );

const ofTasks = (ledger: readonly LedgerRow[]): Map<string, LedgerRow[]> => {
  const groups = new Map<string, LedgerRow[]>();
  for (const [taskId, rows] of groupBy(ledger, (row) => row.taskId)) {
    if (taskId !== null) groups.set(taskId, rows);
  }
  return groups;
};

const balancesFold = ({ accounts, ledger }: Facts): Found => {
  const entries = groupBy(ledger, (row) => row.tenantId);
  const found: Found = accounts.flatMap((account) => {
    const rows = entries.get(account.tenantId) ?? [];
    const available = sum(rows, (row) => row.availableDelta);
    const held = sum(rows, (row) => row.heldDelta);
    return available === account.availableMicros && held === account.heldMicros
      ? []
      : ([
          [
            account.tenantId,
            `entries fold to ${available} available and ${held} held, ` +
              `the account says ${account.availableMicros} and ${account.heldMicros}`,
          ],
        ] as Found);
  });
  const known = new Set(accounts.map((account) => account.tenantId));
  const orphans: Found = [...entries.keys()]
    .filter((tenantId) => !known.has(tenantId))
    .map((tenantId) => [tenantId, 'has entries but no account']);
  return [...found, ...orphans];
};

/** Credits come in by grants, refunds and adjustments, and leave by settlements; nothing else makes or eats them. */
const creditsAddUp = ({ accounts, ledger }: Facts): Found => {
  const balance = accounts.reduce((all, row) => all + row.availableMicros + row.heldMicros, 0n);
  const adjusted = sum(
    ledger.filter((row) => row.kind === 'ADJUSTMENT'),
    (row) => row.availableDelta,
  );
  const moved =
    sumKind(ledger, 'GRANT') + sumKind(ledger, 'REFUND') + adjusted - sumKind(ledger, 'SETTLE');
  return balance === moved
    ? []
    : [['all accounts', `balances are ${balance}, what came in less what left is ${moved}`]];
};

const balancesAreNotNegative = ({ accounts }: Facts): Found =>
  accounts
    .filter((row) => row.availableMicros < 0n || row.heldMicros < 0n)
    .map((row) => [row.tenantId, `${row.availableMicros} available, ${row.heldMicros} held`]);

const heldIsOpenHolds = ({ accounts, holds }: Facts): Found => {
  const open = groupBy(
    holds.filter((hold) => hold.status === 'OPEN'),
    (hold) => hold.tenantId,
  );
  return accounts.flatMap((account) => {
    const held = (open.get(account.tenantId) ?? []).reduce((all, h) => all + h.amountMicros, 0n);
    return held === account.heldMicros
      ? []
      : ([[account.tenantId, `holds ${account.heldMicros}, open holds are ${held}`]] as Found);
  });
};

const holdsFollowTasks = ({ tasks, holds, pendingSettlements }: Facts): Found => {
  const pending = new Set(pendingSettlements);
  const byTask = new Map(holds.map((hold) => [hold.taskId, hold.status]));
  return tasks.flatMap((task) => {
    const hold = byTask.get(task.id);
    const paysLater = task.status === 'CREATED' || task.status === 'VALIDATING';
    if (isTerminal(task.status)) {
      return hold === 'OPEN' && !pending.has(task.id)
        ? ([[task.id, `${task.status} with an open hold`]] as Found)
        : [];
    }
    if (paysLater) {
      return hold === undefined ? [] : ([[task.id, `${task.status} with a hold`]] as Found);
    }
    return hold === 'OPEN'
      ? []
      : ([
          [task.id, `${task.status} with ${hold === undefined ? 'no' : 'a closed'} hold`],
        ] as Found);
  });
};

const keysAreUnique = ({ ledger }: Facts): Found =>
  [...groupBy(ledger, (row) => row.businessKey)]
    .filter(([, rows]) => rows.length > 1)
    .map(([key, rows]) => [key, `${rows.length} entries`]);

const closedOnce = ({ ledger }: Facts): Found =>
  [...ofTasks(ledger)].flatMap(([taskId, rows]) =>
    (['RESERVE', 'SETTLE', 'RELEASE'] as const)
      .map((kind) => [kind, rows.filter((row) => row.kind === kind).length] as const)
      .filter(([, count]) => count > 1)
      .map(([kind, count]): [string, string] => [taskId, `${count} ${kind} entries`]),
  );

const closingsSplitTheReserve = ({ holds, ledger }: Facts): Found => {
  const entries = ofTasks(ledger);
  return holds.flatMap((hold) => {
    const rows = entries.get(hold.taskId) ?? [];
    const reserved = sumKind(rows, 'RESERVE');
    const closed = sumKind(rows, 'SETTLE') + sumKind(rows, 'RELEASE');
    const expected = hold.status === 'OPEN' ? 0n : reserved;
    return reserved === hold.amountMicros && closed === expected
      ? []
      : ([
          [
            hold.taskId,
            `${hold.status} hold of ${hold.amountMicros}: reserved ${reserved}, settled and released ${closed}`,
          ],
        ] as Found);
  });
};

/** An adjustment of a task charges it where it takes credits, and gives back where it adds them. */
const refundsStayWithinSettles = ({ ledger }: Facts): Found =>
  [...ofTasks(ledger)]
    .map(([taskId, rows]) => {
      const corrections = rows.filter((row) => row.kind === 'ADJUSTMENT');
      const added = corrections.filter((row) => row.availableDelta > 0n);
      const taken = corrections.filter((row) => row.availableDelta < 0n);
      const givenBack = sumKind(rows, 'REFUND') + sum(added, (row) => row.availableDelta);
      const charged = sumKind(rows, 'SETTLE') - sum(taken, (row) => row.availableDelta);
      return [taskId, givenBack, charged] as const;
    })
    .filter(([, givenBack, charged]) => givenBack > charged)
    .map(([taskId, givenBack, charged]) => [
      taskId,
      `given back ${givenBack} of ${charged} charged`,
    ]);

export const MONEY_INVARIANTS = [
  invariant('balances_fold', 'An account is the fold of its ledger entries.', balancesFold),
  invariant('credits_add_up', 'Over all accounts no credit is made or lost.', creditsAddUp),
  invariant('balances_not_negative', 'No balance is below zero.', balancesAreNotNegative),
  invariant('held_is_open_holds', 'What is held is the sum of open holds.', heldIsOpenHolds),
  invariant(
    'holds_follow_tasks',
    'A hold is open from the reservation to the end, and closed after it unless its settlement is on its way.',
    holdsFollowTasks,
  ),
  invariant('business_keys_unique', 'Each credit movement is booked once.', keysAreUnique),
  invariant(
    'hold_closed_once',
    'A task has at most one RESERVE, one SETTLE and one RELEASE.',
    closedOnce,
  ),
  invariant(
    'closings_split_reserve',
    'SETTLE and RELEASE together are the RESERVE, once the hold is closed, and nothing before.',
    closingsSplitTheReserve,
  ),
  invariant(
    'refunds_within_settles',
    'What refunds and adjustments give back of a task never exceeds what it was charged.',
    refundsStayWithinSettles,
  ),
] as const satisfies readonly Invariant[];
