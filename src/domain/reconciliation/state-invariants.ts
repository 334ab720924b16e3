import { mayPrecede, mayStandBeside } from '../generation/attempt-pairs';
import { isTerminal, type TaskStatus } from '../generation/statuses';
import { TASK_EVENTS, targetsOf, type TaskEventType } from '../generation/transitions';
import { groupBy, invariant, type Facts, type HistoryRow, type Invariant } from './facts';

type Found = [subject: string, detail: string][];

/** The transitions of each task in order of version; ignored events are history too, but no path. */
const pathsOf = ({ history }: Facts): Map<string, HistoryRow[]> => {
  const moves = history.filter((row) => row.ignoredReason === null);
  const paths = groupBy(moves, (row) => row.taskId);
  for (const path of paths.values()) path.sort((a, b) => a.taskVersion - b.taskVersion);
  return paths;
};

const versionsHaveNoGap = (facts: Facts): Found => {
  const paths = pathsOf(facts);
  return facts.tasks.flatMap((task) => {
    const versions = (paths.get(task.id) ?? []).map((row) => row.taskVersion);
    const whole =
      versions.length === task.version && versions.every((version, index) => version === index + 1);
    return whole
      ? []
      : ([[task.id, `at version ${task.version}, history has ${versions.join(', ')}`]] as Found);
  });
};

const isTaskEvent = (type: string): type is TaskEventType =>
  (TASK_EVENTS as readonly string[]).includes(type);

const isListed = (row: HistoryRow, before: TaskStatus | null): boolean => {
  if (before === null) return row.type === 'created' && row.to === 'CREATED' && row.from === null;
  return (
    row.from === before && isTaskEvent(row.type) && targetsOf(before, row.type).includes(row.to)
  );
};

const pathsFollowTheTable = (facts: Facts): Found => {
  const statusOf = new Map(facts.tasks.map((task) => [task.id, task.status]));
  return [...pathsOf(facts)].flatMap(([taskId, path]) => {
    let before: TaskStatus | null = null;
    for (const row of path) {
      if (!isListed(row, before)) {
        return [
          [taskId, `${before ?? 'nothing'} –${row.type}→ ${row.to} is not in the table`],
        ] as Found;
      }
      before = row.to;
    }
    const status = statusOf.get(taskId);
    return status === before
      ? []
      : ([
          [taskId, `history ends at ${before ?? 'nothing'}, the task is ${status ?? 'gone'}`],
        ] as Found);
  });
};

const terminalsStick = (facts: Facts): Found =>
  [...pathsOf(facts)].flatMap(([taskId, path]) => {
    const end = path.findIndex((row) => isTerminal(row.to));
    if (end === -1) return [];
    const left = path.slice(end).find((row) => row.to !== path[end]?.to);
    return left === undefined
      ? []
      : ([[taskId, `left ${path[end]?.to ?? ''} for ${left.to} by ${left.type}`]] as Found);
  });

const attemptsStandBesideTasks = ({ tasks, attempts }: Facts): Found => {
  const byTask = groupBy(attempts, (row) => row.taskId);
  return tasks.flatMap((task) => {
    const current = (byTask.get(task.id) ?? []).find(
      (row) => row.attemptNo === task.currentAttemptNo,
    );
    const status = current?.status ?? 'NONE';
    return mayStandBeside(task.status, status)
      ? []
      : ([[task.id, `${task.status} beside an attempt ${status}`]] as Found);
  });
};

/** Numbers 1..n, and the task points at one of them: the last, or an earlier one whose job was found and adopted. */
const oneAttemptIsCurrent = (facts: Facts): Found => {
  const { tasks, attempts } = facts;
  const byTask = groupBy(attempts, (row) => row.taskId);
  const adopted = new Set(
    [...pathsOf(facts)].flatMap(([taskId, path]) => (path.some(isAdoption) ? [taskId] : [])),
  );
  return tasks.flatMap((task) => {
    const numbers = (byTask.get(task.id) ?? []).map((row) => row.attemptNo).sort((a, b) => a - b);
    const current = task.currentAttemptNo;
    const pointsAtOne =
      current === numbers.length || (adopted.has(task.id) && numbers.includes(current));
    return pointsAtOne && numbers.every((no, index) => no === index + 1)
      ? []
      : ([
          [
            task.id,
            `current attempt is ${task.currentAttemptNo}, attempts are ${numbers.join(', ')}`,
          ],
        ] as Found);
  });
};

const isAdoption = (row: { readonly type: string; readonly from: string | null }): boolean =>
  row.type === 'earlier_attempt_job_found' && (row.from === 'QUEUED' || row.from === 'RETRY_WAIT');

const oneJobPerAttempt = ({ attempts, providerJobs }: Facts): Found => {
  const boundTo = groupBy(
    attempts.filter((row) => row.jobId !== null),
    (row) => row.jobId,
  );
  const shared = [...boundTo]
    .filter(([, rows]) => rows.length > 1)
    .map(([jobId, rows]): [string, string] => [
      String(jobId),
      `is bound to attempts ${rows.map((row) => row.id).join(', ')}`,
    ]);
  const made = [...groupBy(providerJobs, (row) => row.attemptId)]
    .filter(([, rows]) => new Set(rows.map((row) => row.jobId)).size > 1)
    .map(([attemptId, rows]): [string, string] => [
      attemptId,
      `made jobs ${rows.map((row) => row.jobId).join(', ')}`,
    ]);
  return [...shared, ...made];
};

const ALLOWS_ANOTHER: readonly string[] = [
  'submit_rejected',
  'provider_failed',
  'provider_canceled',
  'confirmed_not_created',
  'operator_declared_absent',
  'undecidable_window_over',
  'never_sent',
];

/** Between two claims stands the reason why the first attempt no longer counts, and no attempt is left in doubt. */
const noBlindSecondSubmit = (facts: Facts): Found => {
  const doubtful = facts.attempts.filter((row) => !mayPrecede(row.status));
  const currentNo = new Map(facts.tasks.map((task) => [task.id, task.currentAttemptNo]));
  const left: Found = doubtful
    .filter((row) => row.attemptNo !== (currentNo.get(row.taskId) ?? 0))
    .map((row) => [row.id, `is ${row.status} beside another attempt that is current`]);
  const blind: Found = [...pathsOf(facts)].flatMap(([taskId, path]) => {
    let open = false;
    for (const row of path) {
      if (row.type === 'dispatch_claimed') {
        if (open)
          return [[taskId, `claimed again at version ${row.taskVersion}, unresolved`]] as Found;
        open = true;
      }
      if (ALLOWS_ANOTHER.includes(row.type)) open = false;
    }
    return [];
  });
  return [...left, ...blind];
};

export const STATE_INVARIANTS = [
  invariant('versions_contiguous', 'History has versions 1 to n, each once.', versionsHaveNoGap),
  invariant('history_is_path', 'Each history is a path of the table.', pathsFollowTheTable),
  invariant('terminals_sticky', 'No task leaves its end.', terminalsStick),
  invariant(
    'attempt_beside_task',
    'Task and current attempt are a legal pair of statuses.',
    attemptsStandBesideTasks,
  ),
  invariant(
    'one_current_attempt',
    'Attempts are 1 to n, and one of them is current.',
    oneAttemptIsCurrent,
  ),
  invariant('one_job_per_attempt', 'An attempt has at most one provider job.', oneJobPerAttempt),
  invariant(
    'no_blind_second_submit',
    'A second attempt needs the confirmed end of the first, or a recorded decision.',
    noBlindSecondSubmit,
  ),
] as const satisfies readonly Invariant[];
