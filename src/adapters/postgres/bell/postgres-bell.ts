import type { Log } from '../../../ports/log';
import type { Bell } from '../../../ports/message-bus';
import { createListenConnection, type ListenTimings } from '../notify/listen-connection';
import { createNotifyConnection } from '../notify/notify-connection';

const BURST_INTERVAL_MS = 100;
/** Postgres cuts longer identifiers. */
const CHANNEL_BYTES_MAX = 63;
const PREFIX = 'bell:';

export interface PostgresBellOptions {
  readonly connectionString: string;
  readonly log: Log;
  /** Rings of one channel in one process are at least this far apart, in milliseconds. */
  readonly burstIntervalMs?: number;
  readonly timings?: Partial<ListenTimings>;
}

/**
 * The bell over LISTEN and NOTIFY: one connection rings, one listens, both open when first used. The first ring of a
 * burst goes out at once, the rest of the burst becomes one ring per interval, the last of them after its end.
 */
export const createPostgresBell = (options: PostgresBellOptions): Bell => {
  const { connectionString, log, burstIntervalMs = BURST_INTERVAL_MS } = options;
  const wakers = new Map<string, Set<() => void>>();
  /** Channels that rang within the last interval; true when they rang again since. */
  const resting = new Map<string, { again: boolean; timer: NodeJS.Timeout }>();
  let closed = false;
  /** The last ring was lost; said once, not ten times a second. */
  let dumb = false;

  const ringing = createNotifyConnection({ connectionString, applicationName: 'bell-ring' });
  const listening = createListenConnection({
    connectionString,
    applicationName: 'bell-listen',
    log,
    ...(options.timings === undefined ? {} : { timings: options.timings }),
    onNotification: (channel) => wakeAll(channel),
    onReconnect: () => {
      for (const channel of wakers.keys()) wakeAll(channel);
    },
  });

  const wakeAll = (channel: string): void => {
    for (const wake of [...(wakers.get(channel) ?? [])]) {
      try {
        wake();
      } catch (error) {
        log.error('a waker failed', { channel, error: String(error) });
      }
    }
  };

  const send = (channel: string): void => {
    ringing.send(channel, '').then(
      () => {
        dumb = false;
      },
      (error: unknown) => {
        if (!dumb) log.warn('rings are lost; slow polls stand in', { error: String(error) });
        dumb = true;
      },
    );
  };

  const rest = (channel: string): void => {
    const timer = setTimeout(() => {
      const again = resting.get(channel)?.again === true;
      resting.delete(channel);
      if (!again) return;
      send(channel);
      rest(channel);
    }, burstIntervalMs);
    timer.unref();
    resting.set(channel, { again: false, timer });
  };

  const ring = (name: string): void => {
    if (closed) return;
    const channel = PREFIX + name;
    const rests = resting.get(channel);
    if (rests !== undefined) {
      rests.again = true;
      return;
    }
    send(channel);
    rest(channel);
  };

  const listen = async (name: string, wake: () => void): Promise<() => Promise<void>> => {
    const channel = PREFIX + name;
    if (Buffer.byteLength(channel) > CHANNEL_BYTES_MAX) {
      throw new RangeError(
        `A bell's name has at most ${String(CHANNEL_BYTES_MAX - PREFIX.length)} bytes.`,
      );
    }
    const waker = (): void => wake();
    const wakersOfChannel = wakers.get(channel) ?? new Set();
    wakers.set(channel, wakersOfChannel.add(waker));
    await listening.add(channel);
    return async () => {
      const present = wakers.get(channel);
      if (present === undefined || !present.delete(waker) || present.size > 0) return;
      wakers.delete(channel);
      await listening.remove(channel);
    };
  };

  const close = async (): Promise<void> => {
    closed = true;
    for (const [channel, { again, timer }] of resting) {
      clearTimeout(timer);
      if (again) send(channel);
    }
    resting.clear();
    wakers.clear();
    await Promise.all([ringing.close(), listening.close()]);
  };

  return { ring, listen, close };
};
