import { budgetUse } from '../../../../src/domain/scheduling/budget-use';
import { RETRY_BUDGETS } from '../../../../src/domain/scheduling/retry-budget';
import { newTask } from '../support/new-task';

const LATER = new Date('2026-12-02T00:00:00Z');
const attempt = {
  status: 'RUNNING',
  pollErrors: 0,
  cancelTries: 0,
  reconcileTries: 0,
  nextPollAt: null,
} as const;

describe('what was used of the retry budgets', () => {
  it('is nothing before anything was tried', () => {
    expect(budgetUse(newTask({}), null)).toEqual([]);
  });

  it('is told step by step, with when the next try is due', () => {
    const task = newTask({ status: 'RETRY_WAIT', submitTries: 2, nextRetryAt: LATER });
    expect(budgetUse(task, { ...attempt, pollErrors: 3, nextPollAt: LATER })).toEqual([
      { step: 'submit', triesUsed: 2, triesMax: 5, waitUntil: LATER, spentBy: null },
      { step: 'query', triesUsed: 3, triesMax: 10_000, waitUntil: LATER, spentBy: null },
    ]);
  });

  it('says what used one up: tries, time or the deadline', () => {
    const spent = { status: 'FAILED_FINAL', lastErrorCode: 'SUBMIT_BUDGET_EXHAUSTED' } as const;
    const all = newTask({ ...spent, submitTries: RETRY_BUDGETS.submit.triesMax });
    expect(budgetUse(all, null)).toMatchObject([{ spentBy: 'TRIES' }]);
    const slow = newTask({ ...spent, submitTries: 2, deadlineAt: LATER });
    expect(budgetUse(slow, null)).toMatchObject([{ spentBy: 'TIME' }]);
    const late = newTask({ ...spent, submitTries: 2, deadlineAt: slow.updatedAt });
    expect(budgetUse(late, null)).toMatchObject([{ spentBy: 'DEADLINE' }]);
    const media = newTask({ status: 'POST_PROCESSING', needsOperator: true, mediaTries: 3 });
    expect(budgetUse(media, null)).toMatchObject([{ step: 'media', spentBy: 'TRIES' }]);
  });
});
