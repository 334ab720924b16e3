import { Client } from 'pg';

import { endClient } from './end-client';

/** How long connecting or an answer may take, in milliseconds. */
const ANSWER_MS = 5_000;

/** Bounds what waits while the database is away: a notification is worth nothing later. */
const WAITING_MAX = 10_000;

interface Waiting {
  readonly channel: string;
  readonly payload: string;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export interface NotifyConnection {
  /** Resolves when Postgres has taken the notification; rejects when it may be lost. */
  send(channel: string, payload: string): Promise<void>;
  /** Sends what waits, then ends the connection. */
  close(): Promise<void>;
}

/**
 * A connection that only notifies. NOTIFY takes a lock on the whole database until its commit is on disk, so it runs
 * outside any other transaction, without waiting for the disk, and what waits meanwhile goes out in one statement.
 * Opens with the first notification, and again after a loss.
 */
export const createNotifyConnection = (options: {
  readonly connectionString: string;
  readonly applicationName: string;
}): NotifyConnection => {
  let client: Client | null = null;
  let waiting: Waiting[] = [];
  let sending: Promise<void> | null = null;
  let closed = false;

  const connect = async (): Promise<Client> => {
    const fresh = new Client({
      connectionString: options.connectionString,
      application_name: options.applicationName,
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      options: '-c synchronous_commit=off',
    });
    const forget = (): void => {
      if (client === fresh) client = null;
    };
    fresh.on('error', forget);
    fresh.on('end', forget);
    try {
      await fresh.connect();
    } catch (error) {
      fresh.connection.stream.destroy();
      throw error;
    }
    client = fresh;
    return fresh;
  };

  const notify = async (batch: readonly Waiting[]): Promise<void> => {
    const current = client ?? (await connect());
    try {
      await current.query(
        'SELECT pg_notify(n.channel, n.payload) FROM unnest($1::text[], $2::text[]) AS n (channel, payload)',
        [batch.map(({ channel }) => channel), batch.map(({ payload }) => payload)],
      );
    } catch (error) {
      client = null;
      current.connection.stream.destroy();
      throw error;
    }
  };

  /** A connection that died while idle is noticed only by using it: the second try has a fresh one. */
  const notifyTwice = async (batch: readonly Waiting[]): Promise<void> => {
    const wasOpen = client !== null;
    try {
      await notify(batch);
    } catch (error) {
      if (!wasOpen) throw error;
      await notify(batch);
    }
  };

  const drain = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await notifyTwice(batch);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        const reason = error instanceof Error ? error : new Error(String(error));
        for (const { reject } of batch) reject(reason);
      }
    }
  };

  const send = (channel: string, payload: string): Promise<void> => {
    if (closed) return Promise.reject(new Error('The connection is closed.'));
    if (waiting.length >= WAITING_MAX) {
      return Promise.reject(new Error(`${String(WAITING_MAX)} notifications wait already.`));
    }
    const sent = new Promise<void>((resolve, reject) => {
      waiting.push({ channel, payload, resolve, reject });
    });
    sending ??= drain().finally(() => {
      sending = null;
    });
    return sent;
  };

  const close = async (): Promise<void> => {
    closed = true;
    await sending;
    const last = client;
    client = null;
    if (last !== null) await endClient(last, ANSWER_MS);
  };

  return { send, close };
};
