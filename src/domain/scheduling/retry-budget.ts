/** Steps that retry, each with a budget of its own: using up one never takes from another. */
export const RETRY_STEPS = [
  'submit',
  'query',
  'cancel',
  'reconcile',
  'fetch',
  'media',
  'notify',
] as const;
export type RetryStep = (typeof RETRY_STEPS)[number];

export interface RetryBudget {
  readonly triesMax: number;
  /** From the step's first try. */
  readonly waitMsMax: number;
  readonly backoffMsBase: number;
  readonly backoffMsCap: number;
  /** No try is planned for after the generation's deadline. */
  readonly endsWithDeadline: boolean;
  readonly otherProviderAllowed: boolean;
  /** When the budget is spent, a person decides instead of the task ending at once. */
  readonly needsPerson: boolean;
}

const MINUTE_MS = 60_000;

export const RETRY_BUDGETS = {
  submit: {
    triesMax: 5,
    waitMsMax: 30 * MINUTE_MS,
    backoffMsBase: 500,
    backoffMsCap: 60_000,
    endsWithDeadline: true,
    otherProviderAllowed: true,
    needsPerson: false,
  },
  query: {
    triesMax: 10_000,
    waitMsMax: 24 * 60 * MINUTE_MS,
    backoffMsBase: 1_000,
    backoffMsCap: 60_000,
    endsWithDeadline: false,
    otherProviderAllowed: false,
    needsPerson: false,
  },
  cancel: {
    triesMax: 8,
    waitMsMax: 15 * MINUTE_MS,
    backoffMsBase: 1_000,
    backoffMsCap: 30_000,
    endsWithDeadline: false,
    otherProviderAllowed: false,
    needsPerson: false,
  },
  reconcile: {
    triesMax: 200,
    waitMsMax: 30 * MINUTE_MS,
    backoffMsBase: 1_000,
    backoffMsCap: 15_000,
    endsWithDeadline: false,
    otherProviderAllowed: false,
    needsPerson: true,
  },
  fetch: {
    triesMax: 6,
    waitMsMax: 60 * MINUTE_MS,
    backoffMsBase: 500,
    backoffMsCap: 30_000,
    endsWithDeadline: false,
    otherProviderAllowed: false,
    needsPerson: false,
  },
  media: {
    triesMax: 4,
    waitMsMax: 60 * MINUTE_MS,
    backoffMsBase: 1_000,
    backoffMsCap: 60_000,
    endsWithDeadline: false,
    otherProviderAllowed: false,
    needsPerson: true,
  },
  notify: {
    triesMax: 20,
    waitMsMax: 60 * MINUTE_MS,
    backoffMsBase: 1_000,
    backoffMsCap: 5 * MINUTE_MS,
    endsWithDeadline: false,
    otherProviderAllowed: false,
    needsPerson: false,
  },
} as const satisfies Record<RetryStep, RetryBudget>;

/** What used a budget up: its tries, its time, or the generation's deadline. */
export type SpentBy = 'TRIES' | 'TIME' | 'DEADLINE';

export type RetryVerdict =
  | { readonly kind: 'RETRY'; readonly at: Date }
  | { readonly kind: 'SPENT'; readonly by: SpentBy; readonly needsPerson: boolean };

/**
 * Whether a step may be tried again and when. Exponential backoff with jitter; a provider's Retry-After is a
 * floor and may exceed the cap.
 * @param triesDone tries already made, the failed one included (≥ 1)
 * @param random a number in [0, 1)
 */
export const judgeRetry = (
  step: RetryStep,
  input: {
    readonly triesDone: number;
    readonly firstTryAt: Date;
    readonly now: Date;
    readonly random: number;
    readonly retryAfterMs?: number | null;
    /** Counts only for steps that end with it. */
    readonly deadlineAt?: Date;
  },
): RetryVerdict => {
  const budget: RetryBudget = RETRY_BUDGETS[step];
  if (input.triesDone >= budget.triesMax) {
    return { kind: 'SPENT', by: 'TRIES', needsPerson: budget.needsPerson };
  }
  // Jitter on top of the floor: whoever was told the same Retry-After must not come back at once.
  const delayMs = (input.retryAfterMs ?? 0) + backoffMs(step, input.triesDone, input.random);
  const at = new Date(input.now.getTime() + delayMs);
  if (at.getTime() - input.firstTryAt.getTime() > budget.waitMsMax) {
    return { kind: 'SPENT', by: 'TIME', needsPerson: budget.needsPerson };
  }
  if (budget.endsWithDeadline && input.deadlineAt !== undefined && at >= input.deadlineAt) {
    return { kind: 'SPENT', by: 'DEADLINE', needsPerson: budget.needsPerson };
  }
  return { kind: 'RETRY', at };
};

/** Nearly full jitter: uniform between a tenth of the ceiling and the ceiling, so that no retry is immediate. */
export const backoffMs = (step: RetryStep, triesDone: number, random: number): number => {
  const budget: RetryBudget = RETRY_BUDGETS[step];
  const ceiling = Math.min(
    budget.backoffMsCap,
    budget.backoffMsBase * 2 ** Math.min(triesDone - 1, 30),
  );
  return Math.round(ceiling * (0.1 + 0.9 * random));
};
