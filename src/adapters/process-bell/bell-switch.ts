import type { Log } from '../../ports/log';
import type { Bell } from '../../ports/message-bus';
import { readBellMessage } from './bell-messages';
import type { BellChannel } from './process-bell';

export interface BellSwitch {
  /** Carries the rings of one more child, until the answered function is called: at the latest when the child has ended. */
  attach(child: BellChannel): () => void;
  close(): Promise<void>;
}

/**
 * The parent's side: each ring of a child goes to the other children that listen to its channel, and out on `far`, where
 * processes that somebody else started are heard and hear.
 */
export const createBellSwitch = (far: Bell, log: Log): BellSwitch => {
  const listening = new Map<string, Set<BellChannel>>();
  const farEnds = new Map<string, Promise<() => Promise<void>>>();

  const carry = (channel: string, from: BellChannel | null): void => {
    for (const child of listening.get(channel) ?? []) {
      if (child !== from) child.send({ bell: 'ring', channel });
    }
  };

  const addListener = (channel: string, child: BellChannel): void => {
    listening.set(channel, (listening.get(channel) ?? new Set()).add(child));
    if (farEnds.has(channel)) return;
    const listened = far.listen(channel, () => carry(channel, null));
    listened.catch((error: unknown) => {
      log.warn('rings from outside are not heard; slow polls stand in', {
        channel,
        error: String(error),
      });
    });
    farEnds.set(channel, listened);
  };

  return {
    attach: (child) => {
      const stopHearing = child.onMessage((message) => {
        const heard = readBellMessage(message);
        if (heard === null) return;
        if (heard.bell === 'listen') addListener(heard.channel, child);
        else if (heard.bell === 'unlisten') listening.get(heard.channel)?.delete(child);
        else {
          carry(heard.channel, child);
          far.ring(heard.channel);
        }
      });
      return () => {
        stopHearing();
        for (const children of listening.values()) children.delete(child);
      };
    },
    close: () => far.close(),
  };
};
