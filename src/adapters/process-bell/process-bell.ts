import type { Log } from '../../ports/log';
import type { Bell } from '../../ports/message-bus';
import { readBellMessage, type BellMessage } from './bell-messages';

/** One end of a channel between two processes: of a child to its parent, or of the parent to one child. */
export interface BellChannel {
  /** May lose the message when the other end is gone; must not throw. */
  send(message: BellMessage): void;
  /** Answers how to stop listening. */
  onMessage(listener: (message: unknown) => void): () => void;
}

export interface ProcessBellOptions {
  readonly parent: BellChannel;
  readonly log: Log;
  /** Rings of one channel are at least this far apart, in milliseconds. */
  readonly burstIntervalMs: number;
}

/**
 * The bell of a process whose parent carries the rings to its other children: no database between two processes of one machine.
 * (NOTIFY wakes every listening backend of the database for every ring.) Listeners of this process hear at once. The first ring of a
 * burst goes out at once, the rest as one ring per interval, the last of them after its end.
 */
export const createProcessBell = (options: ProcessBellOptions): Bell => {
  const { parent, log, burstIntervalMs } = options;
  const wakers = new Map<string, Set<() => void>>();
  /** Channels that rang within the last interval; true when they rang again since. */
  const resting = new Map<string, { again: boolean; timer: NodeJS.Timeout }>();

  const wakeAll = (channel: string): void => {
    for (const wake of [...(wakers.get(channel) ?? [])]) {
      try {
        wake();
      } catch (error) {
        log.error('a waker failed', { channel, error: String(error) });
      }
    }
  };

  const stopHearing = parent.onMessage((message) => {
    const heard = readBellMessage(message);
    if (heard?.bell === 'ring') wakeAll(heard.channel);
  });

  const send = (channel: string): void => {
    parent.send({ bell: 'ring', channel });
    setImmediate(wakeAll, channel);
    const timer = setTimeout(() => {
      const again = resting.get(channel)?.again === true;
      resting.delete(channel);
      if (again) send(channel);
    }, burstIntervalMs);
    timer.unref();
    resting.set(channel, { again: false, timer });
  };

  return {
    ring: (channel) => {
      const rests = resting.get(channel);
      if (rests === undefined) send(channel);
      else rests.again = true;
    },
    listen: (channel, wake) => {
      const waker = (): void => wake();
      const present = wakers.get(channel) ?? new Set();
      if (present.size === 0) parent.send({ bell: 'listen', channel });
      wakers.set(channel, present.add(waker));
      return Promise.resolve(() => {
        if (present.delete(waker) && present.size === 0) parent.send({ bell: 'unlisten', channel });
        return Promise.resolve();
      });
    },
    close: () => {
      for (const [channel, { again, timer }] of resting) {
        clearTimeout(timer);
        if (again) parent.send({ bell: 'ring', channel });
      }
      resting.clear();
      wakers.clear();
      stopHearing();
      return Promise.resolve();
    },
  };
};
