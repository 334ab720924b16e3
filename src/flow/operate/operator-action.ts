import type { Attempt } from '../../domain/attempt/attempt';
import { refuse, type Refusal } from '../../domain/generation/refusals';
import type { Task } from '../../domain/generation/task';
import { isBlank } from '../../domain/kernel/is-blank';
import { crashpoint } from '../../ports/crash-points';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';

/** Who acts and why. The reason is part of the action: without one nothing is done. */
export interface OperatorOrder {
  readonly actor: string;
  readonly reason: string;
}

export type SubjectKind =
  | 'GENERATION'
  | 'PROMPT'
  | 'ATTEMPT'
  | 'ASSET'
  | 'OUTPUT'
  | 'MESSAGE'
  | 'PROVIDER_EVENT'
  | 'PROVIDER'
  | 'TENANT'
  | 'FINDING'
  | 'API_KEY'
  | 'INVOICE'
  | 'DATABASE';

type AuditFacts = Readonly<Record<string, unknown>>;

/** What is acted on, read under its locks, and how it stood. */
export interface Subject<Row> {
  readonly kind: SubjectKind;
  readonly id: string;
  readonly tenantId: string | null;
  /** Null: there was nothing. */
  readonly before: AuditFacts | null;
  readonly row: Row;
}

export type CommonRefusal = 'NOT_FOUND' | 'REASON_REQUIRED';

/** What an action came to: `after` is how its subject stands now, for the audit log. */
export interface Done<Result> {
  readonly kind: 'DONE';
  /** Null: a repeat, which changed nothing and was recorded the first time. */
  readonly after: AuditFacts | null;
  readonly result: Result;
  /** What came to be, where the row shall be of that and not of the subject. */
  readonly made?: Pick<Subject<unknown>, 'kind' | 'id'>;
}

export type Acted<Result, Code extends string> =
  { readonly kind: 'DONE'; readonly result: Result } | Refusal<Code | CommonRefusal>;

export const done = <Result>(result: Result, after: AuditFacts): Done<Result> => ({
  kind: 'DONE',
  after,
  result,
});

/** Done before, under the same reference: nothing changes and no second row is written. */
export const repeated = <Result>(result: Result): Done<Result> => ({
  kind: 'DONE',
  after: null,
  result,
});

/** For actions that have a code of their own for what does not exist. */
export const namingNotFound = <Result, Code extends string>(
  acted: Acted<Result, Code>,
  missing: Refusal<Code>,
): { readonly kind: 'DONE'; readonly result: Result } | Refusal<Code | 'REASON_REQUIRED'> =>
  acted.kind === 'REFUSED' && acted.code === 'NOT_FOUND'
    ? missing
    : (acted as Acted<Result, Code> & { readonly code?: Code | 'REASON_REQUIRED' });

/** Thrown by `work` where it can refuse only after it has written: that is undone, and the refusal recorded alone. */
export class RefusedAfterWriting extends Error {
  constructor(readonly refusal: Refusal<string>) {
    super(refusal.code);
  }
}

/**
 * The shape of every operator action, those with money too: one short transaction that locks the subject, judges, acts, and writes the audit row.
 * A refusal is committed too, with its code and nothing else: who tried what is worth knowing. What does not exist leaves no row.
 * @param action stable, as `submit.bind`
 * @param open locks the subject, the generation before its attempt before its assets; null: there is none
 * @param work refuses before it writes anything, or throws `RefusedAfterWriting`
 */
export const act = async <Row, Result, Code extends string>(
  context: FlowContext,
  action: string,
  order: OperatorOrder,
  open: (tx: Stores) => Promise<Subject<Row> | null>,
  work: (tx: Stores, row: Row) => Promise<Done<Result> | Refusal<Code>>,
): Promise<Acted<Result, Code>> => {
  const asked = { action, order, open };
  const outcome = await commit(context, { ...asked, work }).catch((error: unknown) => {
    if (!(error instanceof RefusedAfterWriting)) throw error;
    const refusal = error.refusal as Refusal<Code>;
    return commit<Row, Result, Code>(context, { ...asked, work: () => Promise.resolve(refusal) });
  });
  crashpoint('operator.after_commit_before_answer');
  return outcome;
};

interface Asked<Row, Result, Code extends string> {
  readonly action: string;
  readonly order: OperatorOrder;
  readonly open: (tx: Stores) => Promise<Subject<Row> | null>;
  readonly work: (tx: Stores, row: Row) => Promise<Done<Result> | Refusal<Code>>;
}

const commit = <Row, Result, Code extends string>(
  context: FlowContext,
  { action, order, open, work }: Asked<Row, Result, Code>,
): Promise<Acted<Result, Code>> =>
  context.uow.transact<Acted<Result, Code>>(async (tx) => {
    const reason = isBlank(order.reason) ? '' : order.reason.trim();
    const subject = await open(tx);
    if (subject === null) return refuse('NOT_FOUND', 'There is no such thing.');
    const judged =
      reason === ''
        ? refuse('REASON_REQUIRED' as const, 'Say why.', 'reason')
        : await work(tx, subject.row);
    const after = judged.kind === 'REFUSED' ? { refused: judged.code } : judged.after;
    if (after !== null) {
      const { kind, id } = (judged.kind === 'DONE' ? judged.made : undefined) ?? subject;
      const now = context.clock.now();
      await tx.audit.record({
        id: context.ids.next(now),
        tenantId: subject.tenantId,
        actor: order.actor,
        action,
        subjectKind: kind,
        subjectId: id,
        reason: reason === '' ? null : reason,
        before: subject.before,
        after,
        now,
      });
    }
    crashpoint('operator.before_commit');
    return judged.kind === 'REFUSED' ? judged : { kind: 'DONE', result: judged.result };
  });

export interface TaskRow {
  readonly task: Task;
  readonly attempts: readonly Attempt[];
  readonly current: Attempt | null;
}

/** Opens a generation with its attempts; only its own row is locked. */
export const openTask =
  (taskId: string) =>
  async (tx: Stores): Promise<Subject<TaskRow> | null> => {
    const task = await tx.tasks.lock(taskId);
    if (task === null) return null;
    const attempts = await tx.attempts.listOfTask(taskId);
    const current = attempts.find((each) => each.attemptNo === task.currentAttemptNo) ?? null;
    return {
      kind: 'GENERATION',
      id: task.id,
      tenantId: task.tenantId,
      before: factsOfTask(task),
      row: { task, attempts, current },
    };
  };

export const factsOfTask = (task: Task): AuditFacts => ({
  status: task.status,
  version: task.version,
  needsOperator: task.needsOperator,
});
