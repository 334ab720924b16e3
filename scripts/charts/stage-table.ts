import { STAGES, type Stage, type WorkerName } from '../../src/domain/stages';
import { CRASH_POINTS } from '../../src/ports/crash-points';
import { CONSUMER_GROUPS, type ConsumerGroup, type MessageType } from '../../src/ports/messages';

interface StageRow {
  /** What runs it; the API is no worker but a process too. */
  readonly runs: readonly (WorkerName | 'api')[];
  /** Which consumer groups of its workers belong to this stage. */
  readonly groups: readonly ConsumerGroup[];
  readonly sends: readonly MessageType[];
  /** First words of its crash points. */
  readonly crashWords: readonly string[];
}

/** The same stage names in src/flow, metrics and tests; a new stage fails to compile until it has a row. */
const STAGE_ROWS = {
  upload: {
    runs: ['api', 'asset-validator'],
    groups: ['asset-validator'],
    sends: ['asset.validation.requested', 'asset.status.changed'],
    crashWords: ['upload', 'store'],
  },
  create: {
    runs: ['api'],
    groups: [],
    sends: ['generation.queued', 'task.status.changed'],
    crashWords: ['create'],
  },
  relay: { runs: ['outbox-relay'], groups: [], sends: [], crashWords: ['relay', 'consume'] },
  schedule: {
    runs: ['scheduler'],
    groups: ['scheduler'],
    sends: ['attempt.dispatch.requested'],
    crashWords: ['schedule', 'slot'],
  },
  submit: {
    runs: ['provider'],
    groups: ['provider'],
    sends: ['attempt.reconcile.requested'],
    crashWords: ['submit', 'cancel'],
  },
  observe: {
    runs: ['callback', 'poller'],
    groups: [],
    sends: ['provider.status.observed'],
    crashWords: ['observe', 'callback', 'poll'],
  },
  reduce: {
    runs: ['reducer'],
    groups: ['reducer'],
    sends: ['output.fetch.requested', 'attempt.cancel.requested', 'billing.cost.observed'],
    crashWords: ['reduce'],
  },
  fetch: {
    runs: ['output-fetch'],
    groups: ['output-fetch'],
    sends: ['media.process.requested'],
    crashWords: ['fetch'],
  },
  media: {
    runs: ['media'],
    groups: ['media'],
    sends: ['media.process.requested', 'output.fetch.requested'],
    crashWords: ['media', 'finish'],
  },
  notify: { runs: ['notification'], groups: ['notification'], sends: [], crashWords: ['notify'] },
  bill: {
    runs: ['billing'],
    groups: ['billing'],
    sends: ['billing.settlement.requested'],
    crashWords: ['bill', 'settle', 'invoice'],
  },
  reconcile: {
    runs: ['reconciler'],
    groups: ['reconciler'],
    sends: ['provider.status.observed', 'attempt.dispatch.requested'],
    crashWords: ['reconcile'],
  },
  operate: {
    runs: ['api'],
    groups: [],
    sends: [
      'generation.queued',
      'attempt.dispatch.requested',
      'attempt.reconcile.requested',
      'attempt.cancel.requested',
      'output.fetch.requested',
      'media.process.requested',
      'provider.status.observed',
      'asset.status.changed',
    ],
    crashWords: ['operator'],
  },
} as const satisfies Record<Stage, StageRow>;

const list = (words: readonly string[], empty: string): string =>
  words.length === 0 ? empty : words.map((word) => `\`${word}\``).join('<br>');

const wordOf = (point: string): string => point.slice(0, point.indexOf('.'));

const messagesIn = (stage: Stage): string => {
  const read = STAGE_ROWS[stage].groups.flatMap(
    (group): readonly string[] => CONSUMER_GROUPS[group],
  );
  return stage === 'relay' ? 'outbox rows' : list(read, '–');
};

const messagesOut = (stage: Stage): string =>
  stage === 'relay' ? 'every message' : list(STAGE_ROWS[stage].sends, '–');

const crashPointsOf = (stage: Stage): string => {
  const words: readonly string[] = STAGE_ROWS[stage].crashWords;
  return list(
    CRASH_POINTS.filter((point) => words.includes(wordOf(point))),
    '–',
  );
};

/** A crash point whose first word no stage claims would be missing from the table. */
const refuseUnclaimed = (): void => {
  const claimed = new Set<string>(STAGES.flatMap((stage) => [...STAGE_ROWS[stage].crashWords]));
  const lost = CRASH_POINTS.filter((point) => !claimed.has(wordOf(point)));
  if (lost.length > 0) throw new Error(`No stage claims the crash points ${lost.join(', ')}`);
};

export const writeStageTable = (): string => {
  refuseUnclaimed();
  return [
    '| stage | use cases | runs in | reads | sends | crash points |',
    '| --- | --- | --- | --- | --- | --- |',
    ...STAGES.map(
      (stage) =>
        `| ${stage} | \`src/flow/${stage}\` | ${STAGE_ROWS[stage].runs.join('<br>')} | ` +
        `${messagesIn(stage)} | ${messagesOut(stage)} | ${crashPointsOf(stage)} |`,
    ),
  ].join('\n');
};
