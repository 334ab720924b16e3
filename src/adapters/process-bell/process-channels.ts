import type { BellChannel } from './process-bell';

/** What a process has of the channel to its parent, and a parent of the channel to a child it forked. */
interface End {
  readonly connected: boolean;
  send?: ((message: object, onSent: (error: Error | null) => void) => boolean) | undefined;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  off(event: 'message', listener: (message: unknown) => void): unknown;
}

/** A ring that finds no other end any more is lost, as rings may be. */
const nobodyThere = (): void => undefined;

export const channelOf = (end: End): BellChannel => ({
  send: (message) => {
    if (end.connected) end.send?.(message, nobodyThere);
  },
  onMessage: (listener) => {
    end.on('message', listener);
    return () => void end.off('message', listener);
  },
});
