import { setTimeout as wait } from 'node:timers/promises';

import type { GraphqlClient } from '../../src/client/graphql-client';
import { GENERATION_CREATE, type UserError } from '../../src/demo/operations';

/** One answer to one create, as the caller sees it. */
export interface Told {
  readonly key: string;
  readonly atMs: number;
  readonly tookMs: number;
  /** 0: no answer. */
  readonly status: number;
  readonly code: string | null;
  readonly retryAfterS: number | null;
  /** Public id of the accepted generation. */
  readonly id: string | null;
  readonly replayed: boolean;
}

export interface Traffic {
  readonly told: readonly Told[];
  /** By idempotency key. */
  readonly accepted: ReadonlyMap<string, string>;
  /** One create, sent once. */
  createOnce(key: string, more?: Readonly<Record<string, unknown>>): Promise<Told>;
  /** A generation that is asked for until it is accepted; answers its id, or null when that took too long. */
  create(more?: Readonly<Record<string, unknown>>): Promise<string | null>;
  /** One new generation each so often, each asked for until it is accepted; no new one while many are not accepted yet. */
  flow(everyMs: number): void;
  /** No more new ones; those that were asked for are asked for to the end. Answers the keys that nobody accepted. */
  stop(): Promise<readonly string[]>;
}

interface CreateAnswer {
  readonly generationCreate: {
    readonly generation: { readonly id: string } | null;
    readonly replayed: boolean;
    readonly userErrors: readonly UserError[];
  } | null;
}

const ANSWER_LIMIT_MS = 15_000;
const PATIENCE_MS = 120_000;
const TRY_AGAIN_MS = 500;
/** A caller that piles up what nobody accepts would measure the pile. */
const UNACCEPTED_MAX = 10;
let runs = 0;

/** Generations of one caller over GraphQL, who holds an idempotency key for each and asks again where it may. */
export const createTraffic = (client: GraphqlClient, name: string): Traffic => {
  runs += 1;
  const prefix = `${name}-${runs}`;
  const told: Told[] = [];
  const accepted = new Map<string, string>();
  const running = new Set<Promise<unknown>>();
  const unanswered: string[] = [];
  let stopping = false;
  let count = 0;

  const createOnce: Traffic['createOnce'] = async (key, more = {}) => {
    const began = performance.now();
    const input = {
      idempotencyKey: key,
      model: 'sandbox-video-1',
      prompt: 'a lighthouse in the fog',
      durationMs: 2_000,
      resolution: '480p',
      ...more,
    };
    const answer = await bounded(client.request<CreateAnswer>(GENERATION_CREATE, { input }));
    const created = answer?.data?.generationCreate ?? null;
    const one: Told = {
      key,
      atMs: began,
      tookMs: performance.now() - began,
      status: answer?.status ?? 0,
      code: answer?.errors[0]?.extensions?.code ?? created?.userErrors[0]?.code ?? null,
      retryAfterS: numberOf(answer?.headers.get('retry-after') ?? null),
      id: created?.generation?.id ?? null,
      replayed: created?.replayed ?? false,
    };
    told.push(one);
    if (one.id !== null) accepted.set(key, one.id);
    return one;
  };
  const nextKey = (): string => `${prefix}-${(count += 1)}`;
  const untilAccepted = async (key: string, more: Readonly<Record<string, unknown>>) => {
    const until = performance.now() + PATIENCE_MS;
    while (performance.now() < until) {
      const { id, retryAfterS } = await createOnce(key, more);
      if (id !== null) return id;
      await wait(Math.max(TRY_AGAIN_MS, (retryAfterS ?? 0) * 1_000));
    }
    unanswered.push(key);
    return null;
  };
  const track = <T>(work: Promise<T>): Promise<T> => {
    running.add(work);
    void work.finally(() => running.delete(work)).catch(() => undefined);
    return work;
  };
  return {
    told,
    accepted,
    createOnce,
    create: (more = {}) => track(untilAccepted(nextKey(), more)),
    flow: (everyMs) => {
      const go = async (): Promise<void> => {
        while (!stopping) {
          // One of them is this loop.
          if (running.size <= UNACCEPTED_MAX) {
            const key = nextKey();
            track(untilAccepted(key, {})).catch((error: unknown) => {
              unanswered.push(`${key}: ${String(error)}`);
            });
          }
          await wait(everyMs);
        }
      };
      void track(go());
    },
    stop: async () => {
      stopping = true;
      while (running.size > 0) await Promise.allSettled([...running]);
      return unanswered;
    },
  };
};

const numberOf = (text: string | null): number | null =>
  text === null || Number.isNaN(Number(text)) ? null : Number(text);

/** Null: nobody answered in time, or at all. */
const bounded = async <T>(work: Promise<T>): Promise<T | null> => {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ANSWER_LIMIT_MS);
  });
  try {
    return await Promise.race([work.catch(() => null), tooLate]);
  } finally {
    clearTimeout(timer);
  }
};
