import { Client } from 'pg';

import type { Log } from '../../../ports/log';
import { endClient } from './end-client';

/** Times in milliseconds. */
export interface ListenTimings {
  /** How often an idle connection proves that it lives; a half-open one is found after this plus `answerMs`. */
  readonly heartbeatMs: number;
  /** How long connecting or any answer may take. */
  readonly answerMs: number;
  readonly reconnectMsFirst: number;
  readonly reconnectMsMax: number;
}

export const LISTEN_TIMINGS: ListenTimings = {
  heartbeatMs: 10_000,
  answerMs: 5_000,
  reconnectMsFirst: 100,
  reconnectMsMax: 5_000,
};

export interface ListenConnection {
  /**
   * Listens to a channel. Resolves when Postgres has confirmed it, or when the database cannot be reached now: then the
   * channel is listened to from the next connection on. Never rejects for want of a database.
   */
  add(channel: string): Promise<void>;
  remove(channel: string): Promise<void>;
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly connectionString: string;
  readonly applicationName: string;
  readonly log: Log;
  readonly timings?: Partial<ListenTimings>;
  readonly onNotification: (channel: string, payload: string) => void;
  /** The connection is back, or has come only now, after a failure: notifications may have been missed. */
  readonly onReconnect: () => void;
}

/**
 * One connection that only listens. It opens with the first channel, proves by a heartbeat that it is not half open,
 * and comes back by itself, with a doubling pause between tries.
 */
export const createListenConnection = (options: ListenOptions): ListenConnection => {
  const timings = { ...LISTEN_TIMINGS, ...options.timings };
  const { log } = options;
  const channels = new Set<string>();
  let client: Client | null = null;
  let opening: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let failures = 0;
  let closed = false;
  /** One statement at a time on the connection. */
  let tail: Promise<unknown> = Promise.resolve();

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = tail.then(work, work);
    tail = turn.catch(() => undefined);
    return turn;
  };

  const setTimer = (ms: number, work: () => void): void => {
    if (timer !== null) clearTimeout(timer);
    timer = closed ? null : setTimeout(work, ms);
    timer?.unref();
  };

  /** Forgets a connection at most once, whoever notices first that it is gone. */
  const drop = (lost: Client, error: unknown): void => {
    // A socket whose peer is silent would keep `end` waiting.
    lost.connection.stream.destroy();
    if (client !== lost) return;
    client = null;
    log.warn('listening connection lost', { error: String(error) });
    scheduleOpen();
  };

  const scheduleOpen = (): void => {
    failures += 1;
    const pauseMs = Math.min(
      timings.reconnectMsMax,
      timings.reconnectMsFirst * 2 ** (failures - 1),
    );
    setTimer(pauseMs, () => void open());
  };

  const open = (): Promise<void> => {
    opening ??= connect().finally(() => {
      opening = null;
    });
    return opening;
  };

  const connect = async (): Promise<void> => {
    if (closed || client !== null) return;
    const fresh = new Client({
      connectionString: options.connectionString,
      application_name: options.applicationName,
      connectionTimeoutMillis: timings.answerMs,
      query_timeout: timings.answerMs,
      keepAlive: true,
    });
    fresh.on('error', (error) => drop(fresh, error));
    fresh.on('end', () => drop(fresh, new Error('the server ended the connection')));
    fresh.on('notification', ({ channel, payload }) =>
      options.onNotification(channel, payload ?? ''),
    );
    try {
      await fresh.connect();
      await listenToAll(fresh);
    } catch (error) {
      fresh.connection.stream.destroy();
      log.warn('listening connection failed', { error: String(error), failures });
      if (!closed) scheduleOpen();
      return;
    }
    settle(fresh);
  };

  /** Again until no channel was added meanwhile. */
  const listenToAll = async (fresh: Client): Promise<void> => {
    const heard = new Set<string>();
    for (;;) {
      const missing = [...channels].filter((channel) => !heard.has(channel));
      if (missing.length === 0) return;
      await fresh.query(
        missing.map((channel) => `LISTEN ${fresh.escapeIdentifier(channel)}`).join('; '),
      );
      for (const channel of missing) heard.add(channel);
    }
  };

  const settle = (fresh: Client): void => {
    if (closed) {
      void endClient(fresh, timings.answerMs);
      return;
    }
    client = fresh;
    setTimer(timings.heartbeatMs, beat);
    if (failures === 0) return;
    failures = 0;
    log.info('listening connection is back');
    options.onReconnect();
  };

  const beat = (): void => {
    void inTurn(() => say('SELECT 1')).then(() => {
      if (client !== null) setTimer(timings.heartbeatMs, beat);
    });
  };

  /** A statement that fails costs the connection, never the caller: the next one listens to all channels. */
  const say = async (statement: string): Promise<void> => {
    const current = client;
    if (current === null) return;
    try {
      await current.query(statement);
    } catch (error) {
      drop(current, error);
    }
  };

  const add = async (channel: string): Promise<void> => {
    if (closed) throw new Error('The connection is closed.');
    if (channels.has(channel)) return inTurn(() => Promise.resolve());
    channels.add(channel);
    await inTurn(async () => {
      const current = client;
      // While a retry is pending its pause is kept.
      if (current !== null) await say(`LISTEN ${current.escapeIdentifier(channel)}`);
      else if (failures === 0) await open();
    });
  };

  const remove = async (channel: string): Promise<void> => {
    if (!channels.delete(channel)) return;
    await inTurn(async () => {
      if (client === null || channels.has(channel)) return;
      await say(`UNLISTEN ${client.escapeIdentifier(channel)}`);
    });
  };

  const close = async (): Promise<void> => {
    if (closed) return;
    closed = true;
    if (timer !== null) clearTimeout(timer);
    await opening;
    await tail;
    const last = client;
    client = null;
    if (last !== null) await endClient(last, timings.answerMs);
  };

  return { add, remove, close };
};
