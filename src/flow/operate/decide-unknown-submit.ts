import type { Attempt } from '../../domain/attempt/attempt';
import type { TaskEvent } from '../../domain/generation/decision';
import { refuse, type Refusal } from '../../domain/generation/refusals';
import { isTerminal } from '../../domain/generation/statuses';
import type { Task } from '../../domain/generation/task';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import { requestObservation } from '../observe/request-observation';
import { freeSlotAfterCommit } from '../schedule/free-slot';
import type { ProviderDeps } from '../submit/submit-attempt';
import { applyEvent, type Applied } from '../transition/apply-event';
import {
  act,
  done,
  type Acted,
  type Done,
  type OperatorOrder,
  type Subject,
} from './operator-action';

export const SUBMIT_VERDICTS = ['BIND', 'DECLARE_ABSENT', 'NEW_ATTEMPT', 'GIVE_UP'] as const;
export type SubmitVerdict = (typeof SUBMIT_VERDICTS)[number];

export interface SubmitDecision extends OperatorOrder {
  readonly verdict: SubmitVerdict;
  /** The provider's own id of the job, for BIND alone. */
  readonly jobId: string | null;
}

export type SubmitRefusal =
  | 'NOT_UNKNOWN'
  | 'ALREADY_DECIDED'
  | 'NOT_ALLOWED'
  | 'JOB_REQUIRED'
  | 'JOB_UNEXPECTED'
  | 'JOB_NOT_FOUND'
  | 'JOB_NOT_OURS'
  | 'JOB_TAKEN'
  | 'PROVIDER_UNAVAILABLE';

type DecideDeps = Pick<ProviderDeps, 'gatewayOf' | 'accountOf' | 'slots'>;

interface Row {
  readonly task: Task;
  readonly attempt: Attempt;
}

const ACTIONS = SUBMIT_VERDICTS.map((verdict) => actionOf(verdict));

/**
 * A person decides what became of a submit whose answer was lost: its job is this one, there is none, or it cannot be known
 * and the generation gets another attempt or ends. Each unknown submit is decided by a person once. What turns up later is
 * found by the watch, by a callback or on the invoice, and cancelled or recorded as any late job.
 */
export const decideUnknownSubmit = async (
  context: FlowContext,
  deps: DecideDeps,
  attemptId: string,
  decision: SubmitDecision,
): Promise<Acted<Row, SubmitRefusal>> => {
  const doubt = await checkJob(context, deps, attemptId, decision);
  const acted = await act(
    context,
    actionOf(decision.verdict),
    decision,
    openAttempt(attemptId),
    async (tx, row) => {
      const refusal = (await judge(tx, row, decision)) ?? doubt;
      return refusal ?? (await commit(context, tx, row, decision));
    },
  );
  if (acted.kind === 'REFUSED') return acted;
  await freeSlotAfterCommit(context, deps.slots, acted.result);
  const { task, attempt } = acted.result;
  if (attempt === null) throw new Error(`Attempt ${attemptId} was decided and is not there`);
  return { kind: 'DONE', result: { task, attempt } };
};

function actionOf(verdict: SubmitVerdict): string {
  return `submit.${verdict.toLowerCase()}`;
}

const openAttempt =
  (attemptId: string) =>
  async (tx: Stores): Promise<Subject<Row> | null> => {
    const seen = await tx.attempts.read(attemptId);
    const task = seen === null ? null : await tx.tasks.lock(seen.taskId);
    const attempt = await tx.attempts.lock(attemptId);
    if (task === null || attempt === null) return null;
    return {
      kind: 'ATTEMPT',
      id: attempt.id,
      tenantId: attempt.tenantId,
      before: factsOf({ task, attempt }),
      row: { task, attempt },
    };
  };

const factsOf = ({ task, attempt }: Row): Readonly<Record<string, unknown>> => ({
  generationId: task.id,
  generationStatus: task.status,
  attemptStatus: attempt.status,
  jobId: attempt.jobId,
});

/** What only the provider can say of the job, asked before the transaction; null: nothing speaks against it. */
const checkJob = async (
  context: FlowContext,
  deps: DecideDeps,
  attemptId: string,
  { verdict, jobId }: SubmitDecision,
): Promise<Refusal<SubmitRefusal> | null> => {
  if (verdict !== 'BIND') {
    return jobId === null ? null : refuse('JOB_UNEXPECTED', 'Only BIND takes a job.', 'jobId');
  }
  if (jobId === null || jobId.trim() === '') {
    return refuse('JOB_REQUIRED', 'Give the provider’s id of the job.', 'jobId');
  }
  const attempt = await context.uow.stores.attempts.read(attemptId);
  if (attempt === null) return null;
  const account = await deps.accountOf(attempt.accountId);
  const outcome = await deps.gatewayOf(attempt.providerId).query(account, jobId);
  switch (outcome.kind) {
    case 'NOT_FOUND':
      return refuse('JOB_NOT_FOUND', 'The provider knows no such job of this account.', 'jobId');
    case 'UNAVAILABLE':
      return refuse('PROVIDER_UNAVAILABLE', 'The provider could not be asked; try again.');
    // The key of this very submit must come back: a job without one may be anybody's, and its content another's.
    case 'FOUND':
      return outcome.observation.echoedRequestKey === attempt.requestKey
        ? null
        : refuse('JOB_NOT_OURS', 'The job does not carry the key of this submit.', 'jobId');
  }
};

const judge = async (
  tx: Stores,
  { task, attempt }: Row,
  { verdict, jobId }: SubmitDecision,
): Promise<Refusal<SubmitRefusal> | null> => {
  if (await tx.audit.wasDone('ATTEMPT', attempt.id, ACTIONS)) {
    return refuse('ALREADY_DECIDED', 'A person has decided this submit before.', 'attemptId');
  }
  const inDoubt = attempt.status === 'UNKNOWN' || attempt.status === 'ABANDONED';
  if (!inDoubt || attempt.jobId !== null) {
    return refuse('NOT_UNKNOWN', `The submit is ${attempt.status}.`, 'attemptId');
  }
  const givesUp = verdict === 'NEW_ATTEMPT' || verdict === 'GIVE_UP';
  if (givesUp && attempt.status === 'ABANDONED') {
    return refuse('ALREADY_DECIDED', 'The submit was given up for lost before.', 'attemptId');
  }
  if (verdict === 'NEW_ATTEMPT' && task.status !== 'SUBMIT_UNKNOWN') {
    return refuse('NOT_ALLOWED', `The generation is ${task.status}: nothing more is sent for it.`);
  }
  if (verdict !== 'BIND' || jobId === null) return null;
  const owner = await tx.attempts.findByJob(attempt.providerId, jobId);
  return owner === null ? null : refuse('JOB_TAKEN', 'The job is another attempt’s.', 'jobId');
};

const eventOf = (verdict: SubmitVerdict): TaskEvent => {
  switch (verdict) {
    case 'BIND':
      return { type: 'operator_bound' };
    case 'DECLARE_ABSENT':
      return { type: 'operator_declared_absent', mayRetry: true };
    case 'NEW_ATTEMPT':
      return { type: 'undecidable_window_over', retryByPolicy: true };
    case 'GIVE_UP':
      return { type: 'undecidable_window_over', retryByPolicy: false };
  }
};

const ERRORS = {
  BIND: null,
  DECLARE_ABSENT: { class: 'SUBMIT_UNKNOWN', code: 'SUBMIT_NOT_CREATED' },
  NEW_ATTEMPT: { class: 'SUBMIT_UNKNOWN', code: 'SUBMIT_UNDECIDABLE' },
  GIVE_UP: { class: 'SUBMIT_UNKNOWN', code: 'SUBMIT_UNDECIDABLE' },
} as const satisfies Record<SubmitVerdict, { class: string; code: string } | null>;

const commit = async (
  context: FlowContext,
  tx: Stores,
  { task, attempt }: Row,
  decision: SubmitDecision,
): Promise<Done<Applied>> => {
  const { verdict, jobId, actor } = decision;
  const applied = await applyEvent(context, tx, {
    task,
    attempt,
    event: eventOf(verdict),
    origin: { source: 'admin', payload: { actor, verdict, ...(jobId === null ? {} : { jobId }) } },
    ...(jobId === null ? {} : { attemptPatch: { jobId } }),
    // A person has waited long enough.
    retryAt: context.clock.now(),
    error: isTerminal(task.status) ? null : ERRORS[verdict],
  });
  if (applied.attempt === null || applied.decision.attemptTo === null) {
    throw new Error(`The law has no ${verdict} for ${task.status} beside ${attempt.status}`);
  }
  if (jobId !== null) {
    const { providerId, requestKey } = attempt;
    for (const orphan of await tx.providerEvents.listOrphansOf(providerId, jobId, requestKey))
      await requestObservation(context, tx, orphan.id, task);
  }
  return done(applied, factsOf({ task: applied.task, attempt: applied.attempt }));
};
