import type { CancelOutcomeWord, CancelReason, TaskStatus } from '../domain/generation/statuses';
import type { MoneyState } from '../domain/billing/money-known';
import type { NextAction } from '../domain/generation/failures';
import { enumType } from './enum-type';

export const GenerationStatusEnum = enumType<TaskStatus>(
  'GenerationStatus',
  'Where a generation stands. SUCCEEDED, CANCELED, FAILED_FINAL and EXPIRED are final.',
  {
    CREATED: 'Accepted.',
    VALIDATING: 'Its prompt waits for a person.',
    QUOTA_RESERVED: 'Its price is reserved.',
    QUEUED: 'Waits for a free place.',
    DISPATCHING: 'Is being sent to a provider.',
    SUBMIT_UNKNOWN: 'The provider’s answer was lost; the provider is being asked what it has.',
    SUBMITTED: 'The provider has it.',
    RUNNING: 'The provider works on it.',
    RETRY_WAIT: 'Waits before another try.',
    CANCEL_REQUESTED: 'The provider was asked to stop and has not confirmed yet.',
    OUTPUT_FETCHING: 'The output is being fetched from the provider.',
    POST_PROCESSING: 'The output is being made playable.',
    SUCCEEDED: 'Done: there is something to play.',
    CANCELED: 'Stopped.',
    FAILED_FINAL: 'Failed; `failure` says why and what it cost.',
    EXPIRED: 'Ran out of time.',
  },
);

export const CancelReasonEnum = enumType<CancelReason>('CancelReason', 'Why it shall stop.', {
  USER: 'The tenant asked.',
  DEADLINE: 'Its time was over.',
  OPERATOR: 'The operator asked.',
});

export const CancelOutcomeEnum = enumType<CancelOutcomeWord>(
  'CancelOutcome',
  'What became of a cancel.',
  {
    BEFORE_SUBMIT: 'Nothing had been sent; nothing is charged.',
    CONFIRMED: 'The provider stopped; its own rule says what it charges.',
    MOOT: 'The job had ended by itself.',
    TOO_LATE: 'The output was made already and is delivered and charged.',
  },
);

/** Whatever the status: nothing moves until somebody has looked. */
export const A_PERSON_DECIDES = 'A person decides how it goes on.';

/** What happens next, in one sentence for people. */
export const NEXT_STEPS: Readonly<Record<TaskStatus, string>> = {
  CREATED: 'The request is checked.',
  VALIDATING: 'A person looks at the prompt.',
  QUOTA_RESERVED: 'It joins the queue.',
  QUEUED: 'It is sent to a provider as soon as a place is free.',
  DISPATCHING: 'The provider answers.',
  SUBMIT_UNKNOWN: 'The provider is asked whether it has the job; it is never sent twice.',
  SUBMITTED: 'The provider begins.',
  RUNNING: 'The provider finishes.',
  RETRY_WAIT: 'It is tried again after a pause.',
  CANCEL_REQUESTED: 'The provider confirms the stop, or finishes first.',
  OUTPUT_FETCHING: 'The output arrives and is checked.',
  POST_PROCESSING: 'A playable version is made.',
  SUCCEEDED: 'Nothing: it can be played.',
  CANCELED: 'Nothing: it has ended.',
  FAILED_FINAL: 'Nothing: it has ended.',
  EXPIRED: 'Nothing: it has ended.',
};

export const NextActionEnum = enumType<NextAction>(
  'NextAction',
  'What a person can do after a failure.',
  {
    RETRY: 'Create it again with a new idempotency key.',
    RETRY_LATER: 'Create it again after a while.',
    CHANGE_PROMPT: 'Change the prompt or the reference image.',
    CHANGE_MODEL: 'Choose another model.',
    CHANGE_PARAMETERS: 'Change the parameters.',
    TOP_UP: 'Add credits first: the balance does not cover another one.',
    ASK_PROVIDER:
      'Wait: the provider is being asked what became of it. Another try now might be paid twice.',
    NEW_ATTEMPT_MAY_BE_CHARGED:
      'Operators: decide for a new attempt, knowing that the first may still be charged.',
    CONTACT_SUPPORT: 'Tell support the id of the generation.',
  },
);

export const MoneyStateEnum = enumType<MoneyState>(
  'MoneyState',
  'What is known of the credits of a generation.',
  {
    NOTHING_RESERVED: 'None were reserved.',
    HELD: 'They are reserved.',
    CHARGED: 'Some or all of them were charged, the rest was given back.',
    RETURNED: 'All of them were given back.',
    UNKNOWN: 'It has ended, but what the provider charges is not known yet.',
  },
);
