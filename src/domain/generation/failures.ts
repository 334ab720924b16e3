import type { AmbiguousPhase } from '../provider/vocabulary';

/** What the provider said of a submit or a job, in public words. */
export type ProviderFailureCode =
  | 'PROVIDER_REJECTED_INPUT'
  | 'MODERATION_REJECTED'
  | 'PROVIDER_UNAVAILABLE'
  | 'PROVIDER_BUSY'
  | 'PROVIDER_FAILED'
  | 'PROVIDER_NO_OUTPUT';

/** Why an output could not be brought home. */
export type OutputFailureCode =
  | 'OUTPUT_GONE'
  | 'OUTPUT_URL_UNAVAILABLE'
  | 'OUTPUT_UNAVAILABLE'
  | 'OUTPUT_INTERRUPTED'
  | 'OUTPUT_TOO_LARGE'
  | 'OUTPUT_RETENTION_OVER'
  | 'OBJECT_CONFLICT'
  | 'OUTPUT_URL_INVALID'
  | 'OUTPUT_SCHEME_NOT_ALLOWED'
  | 'OUTPUT_CREDENTIALS_IN_URL'
  | 'OUTPUT_HOST_NOT_ALLOWED'
  | 'OUTPUT_ADDRESS_NOT_ALLOWED'
  | 'OUTPUT_TOO_MANY_REDIRECTS'
  | 'OUTPUT_ENCODED_CONTENT';

/** Every code that a generation can carry; stable and public. */
export type FailureCode =
  | ProviderFailureCode
  | OutputFailureCode
  | AmbiguousPhase
  | 'NO_CAPABLE_MODEL'
  | 'INPUT_WITHDRAWN'
  | 'SUBMIT_BUDGET_EXHAUSTED'
  | 'SUBMIT_UNDECIDABLE'
  | 'SUBMIT_NOT_CREATED'
  | 'OUTPUT_CORRUPT'
  | 'OUTPUT_GIVEN_UP'
  | 'OUTPUT_REJECTED'
  | 'MEDIA_PROCESSING_FAILED'
  | 'DEADLINE_PASSED'
  | 'GENERATION_FAILED';

/** What a person can do after a failure. */
export type NextAction =
  | 'RETRY'
  | 'RETRY_LATER'
  | 'CHANGE_PROMPT'
  | 'CHANGE_MODEL'
  | 'CHANGE_PARAMETERS'
  | 'TOP_UP'
  | 'ASK_PROVIDER'
  | 'NEW_ATTEMPT_MAY_BE_CHARGED'
  | 'CONTACT_SUPPORT';

interface Failure {
  /** For people. */
  readonly message: string;
  /** What helps, the best first. */
  readonly actions: readonly [NextAction, ...NextAction[]];
}

const LOST_ANSWER: Failure = {
  message: 'The provider’s answer was lost.',
  actions: ['RETRY', 'CONTACT_SUPPORT'],
};
const REFUSED_OUTPUT: Failure = {
  message: 'The provider’s output stands where it may not be fetched from.',
  actions: ['CHANGE_MODEL', 'CONTACT_SUPPORT'],
};
const UNFETCHED_OUTPUT: Failure = {
  message: 'The output could not be fetched from the provider.',
  actions: ['RETRY', 'CONTACT_SUPPORT'],
};
const UNREACHABLE: Failure['actions'] = ['RETRY_LATER', 'CHANGE_MODEL'];

/** One table: the code of a failure → what it means and what to do. A code without a row does not compile. */
const FAILURES: Readonly<Record<FailureCode, Failure>> = {
  PROVIDER_REJECTED_INPUT: {
    message: 'The provider did not take this request.',
    actions: ['CHANGE_PARAMETERS', 'CHANGE_PROMPT'],
  },
  MODERATION_REJECTED: {
    message: 'The content rules do not allow it.',
    actions: ['CHANGE_PROMPT'],
  },
  PROVIDER_UNAVAILABLE: {
    message: 'The provider could not be reached.',
    actions: UNREACHABLE,
  },
  PROVIDER_BUSY: { message: 'The provider had no capacity.', actions: UNREACHABLE },
  PROVIDER_FAILED: {
    message: 'The provider failed while it worked on it.',
    actions: ['RETRY', 'CHANGE_MODEL'],
  },
  PROVIDER_NO_OUTPUT: {
    message: 'The provider finished without an output.',
    actions: ['RETRY', 'CHANGE_PROMPT'],
  },
  OUTPUT_GONE: {
    message: 'The provider no longer has the output.',
    actions: ['RETRY', 'CONTACT_SUPPORT'],
  },
  OUTPUT_RETENTION_OVER: {
    message: 'The provider keeps outputs for a while only, and that while was over.',
    actions: ['RETRY', 'CONTACT_SUPPORT'],
  },
  OUTPUT_URL_UNAVAILABLE: UNFETCHED_OUTPUT,
  OUTPUT_UNAVAILABLE: UNFETCHED_OUTPUT,
  OUTPUT_INTERRUPTED: UNFETCHED_OUTPUT,
  OUTPUT_TOO_LARGE: {
    message: 'The output is larger than is allowed.',
    actions: ['CHANGE_PARAMETERS', 'CHANGE_MODEL'],
  },
  OBJECT_CONFLICT: {
    message: 'Two different outputs came for one place; neither is thrown away.',
    actions: ['CONTACT_SUPPORT'],
  },
  OUTPUT_URL_INVALID: REFUSED_OUTPUT,
  OUTPUT_SCHEME_NOT_ALLOWED: REFUSED_OUTPUT,
  OUTPUT_CREDENTIALS_IN_URL: REFUSED_OUTPUT,
  OUTPUT_HOST_NOT_ALLOWED: REFUSED_OUTPUT,
  OUTPUT_ADDRESS_NOT_ALLOWED: REFUSED_OUTPUT,
  OUTPUT_TOO_MANY_REDIRECTS: REFUSED_OUTPUT,
  OUTPUT_ENCODED_CONTENT: REFUSED_OUTPUT,
  AFTER_WRITE: LOST_ANSWER,
  HEADERS_TIMEOUT: LOST_ANSWER,
  BODY_CUT: LOST_ANSWER,
  NO_JOB_ID: LOST_ANSWER,
  GATEWAY_502: LOST_ANSWER,
  GATEWAY_504: LOST_ANSWER,
  BEFORE_RESTORE: LOST_ANSWER,
  NO_CAPABLE_MODEL: {
    message: 'No model can serve this request any more.',
    actions: ['CHANGE_MODEL'],
  },
  INPUT_WITHDRAWN: {
    message: 'A reference asset was deleted before it could be used.',
    actions: ['CHANGE_PARAMETERS'],
  },
  SUBMIT_BUDGET_EXHAUSTED: {
    message: 'Every try to reach a provider failed.',
    actions: UNREACHABLE,
  },
  SUBMIT_UNDECIDABLE: {
    message: 'It could not be found out whether the provider has the job.',
    actions: ['RETRY', 'CONTACT_SUPPORT'],
  },
  SUBMIT_NOT_CREATED: {
    message: 'The provider never had the job.',
    actions: ['RETRY', 'CHANGE_MODEL'],
  },
  OUTPUT_CORRUPT: {
    message: 'The output could not be read.',
    actions: ['RETRY', 'CHANGE_MODEL'],
  },
  OUTPUT_GIVEN_UP: {
    message: 'The output could not be kept.',
    actions: ['RETRY', 'CONTACT_SUPPORT'],
  },
  OUTPUT_REJECTED: {
    message: 'The content rules do not allow what was made.',
    actions: ['CHANGE_PROMPT'],
  },
  MEDIA_PROCESSING_FAILED: {
    message: 'The output could not be made playable.',
    actions: ['RETRY', 'CONTACT_SUPPORT'],
  },
  DEADLINE_PASSED: { message: 'It did not end in time.', actions: UNREACHABLE },
  GENERATION_FAILED: {
    message: 'It could not be finished.',
    actions: ['RETRY', 'CONTACT_SUPPORT'],
  },
};

/** As a row has it, perhaps from another version: a code that nobody knows reads as the general one. */
export const toFailureCode = (text: string): FailureCode =>
  text in FAILURES ? (text as FailureCode) : 'GENERATION_FAILED';

export const failureMessageOf = (code: FailureCode): string => FAILURES[code].message;

export interface Situation {
  /** An attempt may still have a living job, or one that nobody knows of. */
  readonly outcomeOpen: boolean;
  readonly isOperator: boolean;
  /** The balance covers the same price again. */
  readonly canPay: boolean;
}

const TRIES_AGAIN: readonly NextAction[] = [
  'RETRY',
  'RETRY_LATER',
  'CHANGE_PROMPT',
  'CHANGE_MODEL',
  'CHANGE_PARAMETERS',
];

/**
 * What may be done after a failure, the best first. While the outcome is open nobody is offered another try: the first may
 * still run, and be charged. An operator may decide for one, knowing that.
 */
export const nextActionsOf = (code: FailureCode, situation: Situation): readonly NextAction[] => {
  if (situation.outcomeOpen) {
    return situation.isOperator
      ? ['ASK_PROVIDER', 'NEW_ATTEMPT_MAY_BE_CHARGED']
      : ['ASK_PROVIDER', 'CONTACT_SUPPORT'];
  }
  const { actions } = FAILURES[code];
  const needsCredits = !situation.canPay && actions.some((each) => TRIES_AGAIN.includes(each));
  return needsCredits ? ['TOP_UP', ...actions] : actions;
};
