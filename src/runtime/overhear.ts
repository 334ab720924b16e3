import type { Bell } from '../ports/message-bus';

/** Who in this process listens to what. */
export type Listeners = Map<string, Set<() => void>>;

/** A bell that also notes here who listens to what, so that news of this process alone wake them without a ring for all. */
export const overhear = (bell: Bell, listeners: Listeners): Bell => ({
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

export const wakeHere = (listeners: Listeners, channel: string): void => {
  for (const wake of listeners.get(channel) ?? []) wake();
};
