import { CONSUMER_GROUPS, type ConsumerGroup } from '../ports/messages';
import { bells } from './bells';
import type { Container } from './container';
import { startLoop, type RunningLoop } from './loop';
import { overhear, wakeHere, type Listeners } from './overhear';

const LOOK_MS = 1_500;

/**
 * The slow look of all the loops of a process as one statement: a process with ten loops asks the database no more often than one
 * with one. Each loop still hears its bell by itself; what the bell missed, or what becomes due by itself, wakes it from here.
 */
export const lookTogether = (
  container: Container,
): { readonly container: Container; readonly look: RunningLoop } => {
  const listeners: Listeners = new Map();
  const bell = overhear(container.bell, listeners);
  const { clock } = container.context;
  const look = startLoop({
    name: 'look-together',
    slowPollMs: LOOK_MS,
    now: () => clock.now(),
    log: container.log,
    listen: () => Promise.resolve(() => Promise.resolve()),
    round: async () => {
      const rows = await container.dueLook(
        {
          outbox: listeners.has(bells.outbox),
          polls: listeners.has(bells.polls),
          waiting: listeners.has(bells.slots),
          groups: groupsHeard(listeners),
        },
        clock.now(),
      );
      const now = clock.now();
      const future: number[] = [];
      for (const row of rows) {
        if (row.at === null) continue;
        if (row.at > now) future.push(row.at.getTime());
        else wakeHere(listeners, channelOf(row));
      }
      return {
        busy: false,
        dueAt: future.length === 0 ? null : new Date(Math.min(...future)),
      };
    },
  });
  return { container: { ...container, bell, looksTogether: true }, look };
};

const groupsHeard = (listeners: ReadonlyMap<string, unknown>): ConsumerGroup[] =>
  (Object.keys(CONSUMER_GROUPS) as ConsumerGroup[]).filter((group) =>
    listeners.has(bells.group(group)),
  );

const channelOf = (row: Awaited<ReturnType<Container['dueLook']>>[number]): string => {
  switch (row.source) {
    case 'OUTBOX':
      return bells.outbox;
    case 'GROUP':
      return bells.group(row.consumerGroup);
    case 'POLLS':
      return bells.polls;
    case 'QUEUE':
      return bells.slots;
  }
};
