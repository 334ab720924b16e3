import { ATTEMPT_STATUS_PAIRS } from '../../domain/attempt/statuses';
import { TASK_STATUS_PAIRS } from '../../domain/generation/transitions';
import type { Facts, Violation } from '../../domain/reconciliation/facts';
import { INVARIANTS } from '../../domain/reconciliation/invariants';
import { CONSUMER_GROUPS } from '../../ports/messages';
import type {
  Evidence,
  FactsLook,
  FindParameters,
  MachineLook,
  Secret,
} from '../../ports/verification';
import {
  ACCOUNT_INVARIANTS,
  CHECKS,
  HISTORY_INVARIANTS,
  isMachineCheck,
  type Check,
  type Sight,
} from './check-list';

export interface VerifySources {
  readonly look: FactsLook;
  /** What is held outside of the database: nothing where it counts slots itself. Null: that cannot be reached. */
  readonly slots: Iterable<Evidence> | null;
  /** Null: there is no such thing to be seen from here. */
  readonly providerLog: AsyncIterable<Evidence> | null;
  readonly objects: AsyncIterable<Evidence> | null;
  /** True: the objects come with the checksums of their bytes. */
  readonly deep: boolean;
  readonly machine: MachineLook | null;
  readonly secrets: readonly Secret[];
}

export interface VerifyOptions {
  readonly now: Date;
  /** What is younger than this may still be under way. */
  readonly settleMs: number;
  /** History, outbox and inbox are whole for this long. */
  readonly keptMs: number;
  /** Names of checks; null for all. */
  readonly only: readonly string[] | null;
}

export interface VerifyReport {
  readonly checked: readonly Check[];
  /** Left out, because what they need cannot be seen. */
  readonly unseen: readonly Check[];
  readonly rows: number;
  readonly violations: readonly Violation[];
}

const TASK_BATCH = 500;
const ACCOUNT_BATCH = 1_000;
/** Of one check; a thousand of the same say no more than the first hundred. */
const VIOLATIONS_MAX = 100;
/** Smaller than every id. */
const NIL = '00000000-0000-0000-0000-000000000000';

/** Asks every invariant of the facts as they are. Reads only; a product that runs meanwhile is neither held up nor accused. */
export const verifyFacts = async (
  sources: VerifySources,
  options: VerifyOptions,
): Promise<VerifyReport> => {
  const sights = new Set<Sight>([
    'database',
    ...(sources.slots === null ? [] : (['slots'] as const)),
    ...(sources.providerLog === null ? [] : (['provider log'] as const)),
    ...(sources.objects === null ? [] : (['object store'] as const)),
    ...(sources.objects !== null && sources.deep ? (['object bytes'] as const) : []),
    ...(sources.machine === null ? [] : (['data folder'] as const)),
  ]);
  const wanted = CHECKS.filter(({ name }) => options.only === null || options.only.includes(name));
  const checked = wanted.filter(({ needs }) => sights.has(needs));
  // Before the first read: whatever the witnesses know by then, the rows know too.
  if (sources.slots !== null) await sources.look.witness(sources.slots);
  if (sources.providerLog !== null) await sources.look.witness(sources.providerLog);
  if (sources.objects !== null) await sources.look.witness(sources.objects);
  const names = new Set(checked.map(({ name }) => name));
  const violations = [
    ...(await verifyTasks(sources.look, names, options)),
    ...(await verifyAccounts(sources.look, names)),
    ...(await verifyRows(sources, checked, options)),
  ];
  const order = new Map(checked.map(({ name }, index) => [name, index]));
  return {
    checked,
    unseen: wanted.filter(({ needs }) => !sights.has(needs)),
    rows: await sources.look.countRows(),
    violations: violations.sort(
      (a, b) => (order.get(a.invariant) ?? 0) - (order.get(b.invariant) ?? 0),
    ),
  };
};

const verifyTasks = async (
  look: FactsLook,
  names: ReadonlySet<string>,
  options: VerifyOptions,
): Promise<Violation[]> => {
  const asked = INVARIANTS.filter(
    ({ name }) =>
      names.has(name) && name !== 'business_keys_unique' && !ACCOUNT_INVARIANTS.includes(name),
  );
  if (asked.length === 0) return [];
  const violations = createBoundedList();
  const keptSince = new Date(options.now.getTime() - options.keptMs);
  for (let after = NIL; ;) {
    const batch = await look.readTasks(after, TASK_BATCH);
    if (batch.last === null) return violations.list;
    const withHistory = onlyTasks(batch.facts, batch.createdSince(keptSince));
    for (const each of asked) {
      violations.add(each.find(HISTORY_INVARIANTS.includes(each.name) ? withHistory : batch.facts));
    }
    after = batch.last;
  }
};

const onlyTasks = (facts: Facts, ids: ReadonlySet<string>): Facts => ({
  ...facts,
  tasks: facts.tasks.filter((row) => ids.has(row.id)),
  attempts: facts.attempts.filter((row) => ids.has(row.taskId)),
  history: facts.history.filter((row) => ids.has(row.taskId)),
});

const verifyAccounts = async (
  look: FactsLook,
  names: ReadonlySet<string>,
): Promise<Violation[]> => {
  const asked = INVARIANTS.filter(
    ({ name }) => names.has(name) && ACCOUNT_INVARIANTS.includes(name),
  );
  const violations = createBoundedList();
  for (let after = NIL; asked.length > 0;) {
    const batch = await look.readAccounts(after, ACCOUNT_BATCH);
    // The first batch also brings entries of tenants that have no account.
    for (const each of asked) violations.add(each.find(batch.facts));
    if (batch.last === null) break;
    after = batch.last;
  }
  return violations.list;
};

const verifyRows = async (
  sources: VerifySources,
  checked: readonly Check[],
  options: VerifyOptions,
): Promise<Violation[]> => {
  const violations: Violation[] = [];
  const pure = new Set<string>(INVARIANTS.map(({ name }) => name));
  pure.delete('business_keys_unique');
  const parameters = parametersOf(sources, options);
  for (const { name } of checked) {
    if (pure.has(name)) continue;
    const found =
      isMachineCheck(name) && sources.machine !== null
        ? await lookAround(sources.machine, name, sources.secrets)
        : await sources.look.find(name.replaceAll('_', '-'), parameters);
    violations.push(...found.map((each) => ({ invariant: name, ...each })));
  }
  return violations;
};

const lookAround = (
  machine: MachineLook,
  name: Parameters<typeof isMachineCheck>[0],
  secrets: readonly Secret[],
) => {
  if (name === 'no_secret_in_logs') return machine.findSecrets(secrets, VIOLATIONS_MAX);
  return name === 'no_leftover_files'
    ? machine.findLeftoverFiles(VIOLATIONS_MAX)
    : machine.findLeftoverProcesses(VIOLATIONS_MAX);
};

const parametersOf = (sources: VerifySources, options: VerifyOptions): FindParameters => {
  const law = [
    ...TASK_STATUS_PAIRS.map(([from, to]) => ['task', from, to] as const),
    ...ATTEMPT_STATUS_PAIRS.map(([from, to]) => ['attempt', from, to] as const),
  ];
  const readers = Object.entries(CONSUMER_GROUPS).flatMap(([group, types]) =>
    types.map((type) => ({ group, type })),
  );
  return {
    limit: VIOLATIONS_MAX,
    settledBefore: new Date(options.now.getTime() - options.settleMs),
    settleMs: options.settleMs,
    since: idOf(options.now.getTime() - options.keptMs),
    kinds: law.map(([kind]) => kind),
    froms: law.map(([, from]) => from),
    tos: law.map(([, , to]) => to),
    readTypes: readers.map(({ type }) => type),
    readerGroups: readers.map(({ group }) => group),
    names: sources.secrets.map(({ name }) => name),
    patterns: sources.secrets.map(({ pattern }) => pattern),
  };
};

/** The smallest UUIDv7 of an instant. */
const idOf = (ms: number): string => {
  const stamp = Math.max(ms, 0).toString(16).padStart(12, '0');
  return `${stamp.slice(0, 8)}-${stamp.slice(8)}-0000-0000-000000000000`;
};

/** Keeps the first violations of each invariant: memory must not grow with what is wrong. */
const createBoundedList = (): {
  readonly list: Violation[];
  add: (found: readonly Violation[]) => void;
} => {
  const list: Violation[] = [];
  const counts = new Map<string, number>();
  return {
    list,
    add: (found) => {
      for (const each of found) {
        const count = counts.get(each.invariant) ?? 0;
        if (count >= VIOLATIONS_MAX) continue;
        counts.set(each.invariant, count + 1);
        list.push(each);
      }
    },
  };
};
