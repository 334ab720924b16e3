import {
  ATTEMPT_STATUSES,
  ATTEMPT_TRANSITIONS,
  isAttemptSettled,
} from '../../src/domain/attempt/statuses';
import { CURRENT_ATTEMPT_BESIDE } from '../../src/domain/generation/attempt-pairs';
import { isTerminal, TASK_STATUSES, type TaskStatus } from '../../src/domain/generation/statuses';
import { TASK_TRANSITIONS } from '../../src/domain/generation/transitions';

interface Edge {
  readonly from: TaskStatus;
  readonly to: TaskStatus;
  readonly events: readonly string[];
}

/** The law by pair of statuses: what leads from the one to the other. */
const taskEdges = (): Edge[] =>
  TASK_STATUSES.flatMap((from) => {
    const row = Object.entries(TASK_TRANSITIONS[from]) as [string, readonly TaskStatus[]][];
    return TASK_STATUSES.map((to) => ({
      from,
      to,
      events: row.filter(([, targets]) => targets.includes(to)).map(([event]) => event),
    })).filter(({ events }) => events.length > 0);
  });

const mermaid = (lines: readonly string[]): string =>
  ['```mermaid', 'stateDiagram-v2', ...lines.map((line) => `  ${line}`), '```'].join('\n');

/** Labels name one event and count the rest: the table below the chart has them all. */
const label = ([first = '', ...others]: readonly string[]): string =>
  others.length === 0 ? first : `${first} +${others.length}`;

export const writeTaskChart = (): string =>
  mermaid([
    '[*] --> CREATED',
    ...taskEdges()
      .filter(({ from, to }) => from !== to)
      .map(({ from, to, events }) => `${from} --> ${to}: ${label(events)}`),
    ...TASK_STATUSES.filter(isTerminal).map((status) => `${status} --> [*]`),
  ]);

export const writeTaskTable = (): string =>
  [
    '| from | to | by |',
    '| --- | --- | --- |',
    ...taskEdges().map(
      ({ from, to, events }) =>
        `| ${from} | ${from === to ? '(stays)' : to} | ${events.map((e) => `\`${e}\``).join(', ')} |`,
    ),
  ].join('\n');

export const writeAttemptChart = (): string =>
  mermaid([
    '[*] --> NEW',
    ...ATTEMPT_STATUSES.flatMap((from) =>
      ATTEMPT_TRANSITIONS[from].map((to) => `${from} --> ${to}`),
    ),
    ...ATTEMPT_STATUSES.filter(isAttemptSettled).map((status) => `${status} --> [*]`),
  ]);

export const writePairTable = (): string =>
  [
    '| generation | current attempt |',
    '| --- | --- |',
    ...TASK_STATUSES.map(
      (status) =>
        `| ${status} | ${CURRENT_ATTEMPT_BESIDE[status].join(', ').replace('NONE', 'none')} |`,
    ),
  ].join('\n');
