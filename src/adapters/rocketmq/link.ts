import { setTimeout as wait } from 'node:timers/promises';

import type { Log } from '../../ports/log';
import type { Health } from '../../ports/health';
import { explainFailure } from './explain';
import { reachAny } from './reach';

/** A client of the library, not started. */
interface Startable {
  startup(): Promise<void>;
  end(): Promise<void>;
}

export interface LinkOptions<T extends Startable> {
  readonly what: string;
  readonly endpoints: string;
  readonly make: () => T;
  /** Called after the start; what it throws is a failure of the start. */
  readonly check?: (client: T) => void;
  readonly log: Log;
}

export interface Link<T> {
  /** The started client. One start at a time, and after a failure none for a while: then it throws what failed. */
  client(): Promise<T>;
  /** Of the last start or use. */
  readonly health: Health;
  /** Whether anybody has asked for the client. */
  readonly used: boolean;
  /** How long ago the last use was that told what became of it. */
  quietMs(): number;
  /** Tells what became of a use of the client. */
  note(failure: unknown): void;
  close(): Promise<void>;
}

const START_LIMIT_MS = 20_000;
const REST_MS = 2_000;

/** Starts a client when it is first needed, and again for as long as the server does not answer. A change of its health is logged. */
export const createLink = <T extends Startable>(options: LinkOptions<T>): Link<T> => {
  const { what, endpoints, log } = options;
  let started: Promise<T> | null = null;
  let failedAt = -Infinity;
  let health: Health = {
    ok: false,
    detail: explainFailure(new Error('no answer yet'), { endpoints, what }),
  };
  let used = false;
  let notedAt = -Infinity;
  let closed = false;

  const note = (failure: unknown): void => {
    if (failure instanceof RestingError) return;
    notedAt = performance.now();
    const next =
      failure === null
        ? { ok: true, detail: `${what} at ${endpoints}` }
        : { ok: false, detail: explainFailure(failure, { endpoints, what }) };
    if (next.detail === health.detail) return;
    health = next;
    if (next.ok) log.info('RocketMQ answers', { what, endpoints });
    else log.error(next.detail);
  };

  const start = async (): Promise<T> => {
    let client: T | null = null;
    try {
      // In words of ours, and before the client is heard with its own.
      await reachAny(endpoints);
      client = options.make();
      await within(client.startup(), START_LIMIT_MS);
      options.check?.(client);
    } catch (error) {
      failedAt = performance.now();
      started = null;
      note(error);
      void client?.end();
      throw error;
    }
    note(null);
    return client;
  };

  return {
    client: async () => {
      if (closed) throw new Error('The bus is closed');
      used = true;
      if (started === null && performance.now() - failedAt < REST_MS)
        throw new RestingError(health.detail);
      started ??= start();
      return started;
    },
    get health() {
      return health;
    },
    get used() {
      return used;
    },
    quietMs: () => performance.now() - notedAt,
    note,
    close: async () => {
      closed = true;
      const client = await started?.catch(() => null);
      await client?.end();
    },
  };
};

/** No start is tried yet after the last one failed. */
class RestingError extends Error {}

/** The client waits for the server's settings without an end. */
const within = async (startup: Promise<void>, limitMs: number): Promise<void> => {
  const overdue = new AbortController();
  try {
    await Promise.race([
      startup,
      wait(limitMs, undefined, { signal: overdue.signal }).then(() => {
        throw new Error(`no settings came within ${limitMs} ms`);
      }),
    ]);
  } finally {
    overdue.abort();
    startup.catch(() => undefined);
  }
};
