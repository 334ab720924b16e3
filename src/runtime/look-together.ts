import { CONSUMER_GROUPS, type ConsumerGroup } from '../ports/messages';
import type { Bell } from '../ports/message-bus';
import { bells } from './bells';
import type { Container } from './container';
import { startLoop, type RunningLoop } from './loop';

const LOOK_MS = 1_500;

/**
 * The slow look of all the loops of a process as one statement: a process with ten loops asks the database no more often than one
 * with one. Each loop still hears its bell by itself; what the bell missed, or what becomes due by itself, wakes it from here.
 */
export const lookTogether = (
  container: Container,
): { readonly container: Container; readonly look: RunningLoop } => {
  const listeners = new Map<string, Set<() => void>>();
  const bell = overhear(container.bell, listeners);
  const { clock } = container.context;
  const look = startLoop({
    name: 'look-together',
    slowPollMs: LOOK_MS,
    now: () => clock.now(),
    log: container.log,
    listen: () => Promise.resolve(() => Promise.resolve()),
    round: async () => {
      const rows = await container.dueLook(groupsHeard(listeners));
      const now = clock.now();
      const future: number[] = [];
      for (const row of rows) {
        if (row.at === null) continue;
        if (row.at > now) future.push(row.at.getTime());
        else for (const wake of listeners.get(channelOf(row)) ?? []) wake();
      }
      return {
        busy: false,
        dueAt: future.length === 0 ? null : new Date(Math.min(...future)),
      };
    },
  });
  return { container: { ...container, bell, looksTogether: true }, look };
};

/** A bell that also notes here who listens to what. */
const overhear = (bell: Bell, listeners: Map<string, Set<() => void>>): Bell => ({
  ring: (channel) => bell.ring(channel),
  close: () => bell.close(),
  listen: async (channel, wake) => {
    const unlisten = await bell.listen(channel, wake);
    const present = listeners.get(channel) ?? new Set();
    listeners.set(channel, present.add(wake));
    return async () => {
      present.delete(wake);
      await unlisten();
    };
  },
});

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
