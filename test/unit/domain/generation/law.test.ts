import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AttemptStatus,
  ATTEMPT_STATUSES,
  ATTEMPT_STATUS_PAIRS,
  holdsSlot,
  mayAttemptMove,
} from '../../../../src/domain/attempt/statuses';
import {
  CURRENT_ATTEMPT_BESIDE,
  EVERY_ATTEMPT_STATUS_IS_LISTED,
  mayStandBeside,
} from '../../../../src/domain/generation/attempt-pairs';
import { decide } from '../../../../src/domain/generation/decide';
import type {
  AttemptFacts,
  Decision,
  TaskEvent,
  TaskFacts,
} from '../../../../src/domain/generation/decision';
import {
  isTerminal,
  TASK_STATUSES,
  type TaskStatus,
} from '../../../../src/domain/generation/statuses';
import { TASK_STATUS_PAIRS, TASK_TRANSITIONS } from '../../../../src/domain/generation/transitions';
import { JOB_STATUSES } from '../../../../src/domain/provider/vocabulary';
import { eventOf, SENT_EVENTS, speaksOfAttempt } from '../support/happenings';

const BOTH = [true, false] as const;

const WITH_CIRCUMSTANCES = new Set<TaskEvent['type']>([
  ...(['cancel_requested', 'provider_accepted', 'submit_rejected', 'job_observed'] as const),
  ...(['confirmed_not_created', 'operator_declared_absent', 'raw_corrupt'] as const),
  'undecidable_window_over',
]);

const EVENTS: readonly TaskEvent[] = [
  ...SENT_EVENTS.filter((type) => !WITH_CIRCUMSTANCES.has(type)).map((type) => eventOf(type, 0)),
  { type: 'provider_accepted' },
  { type: 'cancel_requested', reason: 'USER' },
  { type: 'provider_accepted', otherJob: true },
  ...BOTH.flatMap((mayRetry): TaskEvent[] => [
    { type: 'submit_rejected', mayRetry, charged: false },
    { type: 'submit_rejected', mayRetry, charged: true },
    { type: 'confirmed_not_created', mayRetry },
    { type: 'operator_declared_absent', mayRetry },
    { type: 'raw_corrupt', mayRetry },
    { type: 'undecidable_window_over', retryByPolicy: mayRetry },
    ...JOB_STATUSES.flatMap((job) =>
      BOTH.map((hasOutputs): TaskEvent => ({ type: 'job_observed', job, hasOutputs, mayRetry })),
    ),
  ]),
];

const ATTEMPTS: readonly (AttemptFacts | null)[] = [
  null,
  ...ATTEMPT_STATUSES.flatMap((status) =>
    BOTH.flatMap((hasJob) => BOTH.map((isCurrent) => ({ status, hasJob, isCurrent }))),
  ),
];

const FACTS: readonly TaskFacts[] = TASK_STATUSES.flatMap((status) =>
  ATTEMPTS.flatMap((attempt) =>
    (['USER', 'DEADLINE', null] as const).flatMap((cancelReason) =>
      BOTH.map((earlierAttemptUnknown) => ({
        status,
        version: 3,
        cancelReason,
        attempt,
        earlierAttemptUnknown,
      })),
    ),
  ),
);

interface Judged {
  readonly facts: TaskFacts;
  readonly event: TaskEvent;
  readonly decision: Decision;
}

/** Every decision there is: all statuses, attempts, reasons and events, legal or absurd. */
const ALL: readonly Judged[] = FACTS.flatMap((facts) =>
  EVENTS.map((event) => ({ facts, event, decision: decide(facts, event) })),
);

const isLegal = ({ facts }: Judged): boolean =>
  facts.attempt === null
    ? mayStandBeside(facts.status, 'NONE')
    : !facts.attempt.isCurrent || mayStandBeside(facts.status, facts.attempt.status);

const endOf = ({ facts, decision }: Judged): TaskStatus =>
  decision.kind === 'MOVE' ? (decision.steps.at(-1)?.to ?? facts.status) : facts.status;

const has = ({ decision }: Judged, kind: string): boolean =>
  decision.effects.some((effect) => effect.kind === kind);

const holdsOrHas = (to: AttemptStatus | null): boolean =>
  to !== null && (holdsSlot(to) || to === 'SUCCEEDED');

const show = ({ facts, event, decision }: Judged): string =>
  JSON.stringify({ facts, event, decision });

const offenders = (isWrong: (judged: Judged) => boolean): string[] =>
  ALL.filter(isWrong).slice(0, 3).map(show);

describe('the law of a generation', () => {
  it('is exactly what decide can choose: no row is dead, none is missing', () => {
    const chosen = new Set<string>();
    for (const judged of ALL.filter(isLegal)) {
      let from = judged.facts.status;
      for (const { event, to } of judged.decision.kind === 'MOVE' ? judged.decision.steps : []) {
        chosen.add(`${from} ${event} ${to}`);
        from = to;
      }
    }
    const listed = Object.entries(TASK_TRANSITIONS).flatMap(([from, row]) =>
      Object.entries(row).flatMap(([event, targets]) =>
        (targets as readonly string[]).map((to) => `${from} ${event} ${to}`),
      ),
    );
    expect([...chosen].sort()).toEqual(listed.sort());
  });

  it('asks only for moves of an attempt that its own law has', () => {
    expect(
      offenders(({ facts, decision }) => {
        const from = facts.attempt?.status;
        if (decision.attemptTo === null) return false;
        return from === undefined || !mayAttemptMove(from, decision.attemptTo);
      }),
    ).toEqual([]);
  });

  it('leaves a legal pair of task and current attempt behind', () => {
    expect(
      offenders((judged) => {
        const { facts, event, decision } = judged;
        // The claim brings a new attempt; it is the caller's to insert.
        if (!isLegal(judged) || facts.attempt === null || event.type === 'dispatch_claimed') {
          return false;
        }
        if (!facts.attempt.isCurrent) return false;
        return !mayStandBeside(endOf(judged), decision.attemptTo ?? facts.attempt.status);
      }),
    ).toEqual([]);
  });

  it('closes the hold exactly when it leads to an end', () => {
    expect(
      offenders((judged) => {
        const ends = !isTerminal(judged.facts.status) && isTerminal(endOf(judged));
        return ends !== has(judged, 'CLOSE_HOLD');
      }),
    ).toEqual([]);
  });

  it('gives a slot back only with the end of the attempt, or when it is given up for lost', () => {
    expect(
      offenders((judged) => {
        const { attemptTo } = judged.decision;
        const isOver = attemptTo !== null && !holdsSlot(attemptTo);
        return isOver !== has(judged, 'FREE_SLOT');
      }),
    ).toEqual([]);
  });

  it('leaves a terminal only in name: nothing moves the task but the review of a success', () => {
    expect(
      offenders(
        ({ facts, event, decision }) =>
          isTerminal(facts.status) &&
          decision.kind === 'MOVE' &&
          !(facts.status === 'SUCCEEDED' && event.type === 'review_rejected'),
      ),
    ).toEqual([]);
  });

  it('moves a task by news of an older attempt only to adopt its job, where nothing else is under way', () => {
    const waits: readonly TaskStatus[] = ['QUEUED', 'RETRY_WAIT'];
    expect(
      offenders(
        (judged) =>
          judged.facts.attempt?.isCurrent === false &&
          speaksOfAttempt(judged.event) &&
          endOf(judged) !== judged.facts.status &&
          !(waits.includes(judged.facts.status) && holdsOrHas(judged.decision.attemptTo)),
      ),
    ).toEqual([]);
  });

  it('leaves no attempt that was sent without the job that turns up for it', () => {
    const sent: readonly string[] = ['SENDING', 'UNKNOWN', 'ABANDONED', 'FAILED_BEFORE_ACCEPT'];
    const isSight = ({ event }: Judged): boolean =>
      event.type === 'job_observed' || event.type === 'provider_accepted';
    expect(
      offenders((judged) => {
        const { attempt } = judged.facts;
        if (attempt === null || attempt.hasJob || !sent.includes(attempt.status)) return false;
        return isSight(judged) && isLegal(judged) && judged.decision.attemptTo === null;
      }),
    ).toEqual([]);
  });

  it('takes no second attempt while the job of an earlier one is in sight', () => {
    const waits: readonly TaskStatus[] = ['QUEUED', 'RETRY_WAIT'];
    const over: readonly string[] = ['ABANDONED', 'FAILED_BEFORE_ACCEPT'];
    const wrong = ALL.filter(({ facts, event }) => {
      const { attempt, status } = facts;
      if (attempt === null || attempt.hasJob || !over.includes(attempt.status)) return false;
      return waits.includes(status) && event.type === 'job_observed' && event.job === 'RUNNING';
    }).filter((judged) => endOf(judged) !== 'RUNNING');
    expect(wrong.map(show)).toEqual([]);
  });

  it('never fails for good, never retries, while a submit is in doubt', () => {
    const inDoubt = ALL.filter(({ facts }) => facts.status === 'SUBMIT_UNKNOWN').filter(isLegal);
    const wrong = inDoubt.filter((judged) => {
      const end = endOf(judged);
      const resolved =
        judged.decision.attemptTo !== null && judged.decision.attemptTo !== 'ABANDONED';
      const byPolicy =
        judged.event.type === 'undecidable_window_over' && judged.event.retryByPolicy;
      return (end === 'FAILED_FINAL' || end === 'RETRY_WAIT') && !resolved && !byPolicy;
    });
    expect(wrong.map(show)).toEqual([]);
  });
});

describe('the pairs of task and attempt', () => {
  it('know every attempt status, by the compiler', () => {
    expect(EVERY_ATTEMPT_STATUS_IS_LISTED).toBe(true);
  });

  it('list an attempt status beside every status from the first dispatch on', () => {
    const beforeDispatch: readonly TaskStatus[] = ['CREATED', 'VALIDATING', 'QUOTA_RESERVED'];
    for (const status of TASK_STATUSES) {
      const others = CURRENT_ATTEMPT_BESIDE[status].filter((each) => each !== 'NONE');
      expect([status, others.length > 0]).toEqual([status, !beforeDispatch.includes(status)]);
    }
  });
});

describe('the database', () => {
  const migrations = join(__dirname, '../../../../prisma/migrations');
  const sql = readdirSync(migrations, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => readFileSync(join(migrations, entry.name, 'migration.sql'), 'utf8'))
    .join('\n');

  const pairsIn = (table: string): string[] =>
    [...sql.matchAll(new RegExp(`INSERT INTO ${table}[^;]*;`, 'g'))].flatMap(([statement]) =>
      [...statement.matchAll(/\('(\w+)', '(\w+)'\)/g)].map((pair) => `${pair[1]} ${pair[2]}`),
    );

  it.each([
    ['task_status_pairs', TASK_STATUS_PAIRS],
    ['attempt_status_pairs', ATTEMPT_STATUS_PAIRS],
  ])('is given in %s exactly the pairs of the law', (table, pairs) => {
    expect(pairsIn(table).sort()).toEqual(pairs.map(([from, to]) => `${from} ${to}`).sort());
  });
});
