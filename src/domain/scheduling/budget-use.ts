import type { Attempt } from '../attempt/attempt';
import type { Task } from '../generation/task';
import { RETRY_BUDGETS, type RetryBudget, type RetryStep, type SpentBy } from './retry-budget';

export interface BudgetUse {
  readonly step: RetryStep;
  readonly triesUsed: number;
  readonly triesMax: number;
  /** When the next try is due; null when none is planned. */
  readonly waitUntil: Date | null;
  readonly spentBy: SpentBy | null;
}

type TaskFacts = Pick<
  Task,
  | 'status'
  | 'submitTries'
  | 'fetchTries'
  | 'mediaTries'
  | 'startedAt'
  | 'stepStartedAt'
  | 'nextRetryAt'
  | 'deadlineAt'
  | 'updatedAt'
  | 'lastErrorCode'
  | 'needsOperator'
>;
type AttemptFacts = Pick<
  Attempt,
  'pollErrors' | 'cancelTries' | 'reconcileTries' | 'nextPollAt' | 'status'
>;

/** What a generation has used of the budget of each step that retries; steps that were never tried are missing. Pure. */
export const budgetUse = (task: TaskFacts, attempt: AttemptFacts | null): readonly BudgetUse[] => {
  const uses: BudgetUse[] = [
    useOf('submit', task.submitTries, {
      waitUntil: task.status === 'RETRY_WAIT' ? task.nextRetryAt : null,
      endedBy: task.lastErrorCode === 'SUBMIT_BUDGET_EXHAUSTED' ? submitEnd(task) : null,
    }),
    useOf('query', attempt?.pollErrors ?? 0, { waitUntil: attempt?.nextPollAt ?? null }),
    useOf('cancel', attempt?.cancelTries ?? 0, { waitUntil: null }),
    useOf('reconcile', attempt?.reconcileTries ?? 0, { waitUntil: null }),
    useOf('fetch', task.fetchTries, {
      waitUntil: task.status === 'OUTPUT_FETCHING' ? task.nextRetryAt : null,
    }),
    useOf('media', task.mediaTries, {
      waitUntil: task.status === 'POST_PROCESSING' ? task.nextRetryAt : null,
      endedBy: task.status === 'POST_PROCESSING' && task.needsOperator ? mediaEnd(task) : null,
    }),
  ];
  return uses.filter(({ triesUsed }) => triesUsed > 0);
};

const useOf = (
  step: RetryStep,
  triesUsed: number,
  at: { readonly waitUntil: Date | null; readonly endedBy?: SpentBy | null },
): BudgetUse => {
  const budget: RetryBudget = RETRY_BUDGETS[step];
  const spentBy = triesUsed >= budget.triesMax ? 'TRIES' : (at.endedBy ?? null);
  return { step, triesUsed, triesMax: budget.triesMax, waitUntil: at.waitUntil, spentBy };
};

const submitEnd = (task: TaskFacts): SpentBy =>
  task.deadlineAt <= task.updatedAt ? 'DEADLINE' : 'TIME';

/** Given up before all tries were made: its time was over. */
const mediaEnd = (task: TaskFacts): SpentBy =>
  task.mediaTries + 1 >= RETRY_BUDGETS.media.triesMax ? 'TRIES' : 'TIME';
