import { setTimeout as wait } from 'node:timers/promises';

import { uuidv7 } from 'uuidv7';

import { APPLIED } from '../../src/flow/consume';
import { consume } from '../../src/runtime/parts';
import type { Container } from '../../src/runtime/container';
import { startOutboxRelayLoops } from '../../src/workers/outbox-relay/loops';
import { percentile } from '../flow/measure-contender';
import { queued } from './fill-outbox';

export interface Delivered {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly lost: number;
  readonly repeated: number;
  /** A message of a task that came after a later one of the same task. */
  readonly orderBreaks: number;
}

const TASKS = 100;
const COMMIT_DELAY_MS_MAX = 20;
const DRAIN_TRIES = 200;

/**
 * Commits messages at a rate, each after a random time within its transaction, so that ids and commits come in different orders;
 * measures from the commit's answer to the consumer. Writer, relay and consumer have containers of their own, and only Postgres
 * between them.
 */
export const deliverAtRate = async (
  containers: Readonly<Record<'writer' | 'relay' | 'consumer', Container>>,
  { ratePerSecond, seconds }: { readonly ratePerSecond: number; readonly seconds: number },
): Promise<Delivered> => {
  const arrivedAt = new Map<string, number>();
  const latest = new Map<string, number>();
  let repeated = 0;
  let orderBreaks = 0;
  const consumer = consume(containers.consumer, 'scheduler', 64, {
    'generation.queued': ({ eventId, aggregateId, aggregateVersion }) => {
      if (arrivedAt.has(eventId)) repeated += 1;
      else {
        arrivedAt.set(eventId, performance.now());
        if (aggregateVersion < (latest.get(aggregateId) ?? 0)) orderBreaks += 1;
        latest.set(aggregateId, aggregateVersion);
      }
      return Promise.resolve(APPLIED);
    },
  });
  const relay = await startOutboxRelayLoops(containers.relay);
  const { uow } = containers.writer.context;
  const committedAt = new Map<string, number>();

  const write = async (taskId: string, version: number): Promise<void> => {
    const eventId = uuidv7();
    await uow.transact(async (tx) => {
      await tx.outbox.add(...queued(taskId, version, eventId));
      await wait(Math.random() * COMMIT_DELAY_MS_MAX);
    });
    committedAt.set(eventId, performance.now());
  };
  /** A task's messages are written one after the other, as its moves are. */
  const task = async (index: number): Promise<void> => {
    const taskId = uuidv7();
    const everyMs = (1_000 * TASKS) / ratePerSecond;
    const began = performance.now() + (everyMs * index) / TASKS;
    for (let version = 1; version <= (seconds * 1_000) / everyMs; version += 1) {
      await wait(Math.max(0, began + version * everyMs - performance.now()));
      await write(taskId, version);
    }
  };
  await Promise.all(Array.from({ length: TASKS }, (_, index) => task(index)));
  for (let tries = 0; tries < DRAIN_TRIES && arrivedAt.size < committedAt.size; tries += 1) {
    await wait(50);
  }
  await Promise.all([consumer, ...relay].map((each) => each.stop()));
  const lags = [...committedAt].flatMap(([eventId, at]) => {
    const arrived = arrivedAt.get(eventId);
    return arrived === undefined ? [] : [Math.max(0, arrived - at)];
  });
  return {
    count: committedAt.size,
    p50Ms: percentile(lags, 0.5),
    p99Ms: percentile(lags, 0.99),
    lost: committedAt.size - lags.length,
    ...{ repeated, orderBreaks },
  };
};
