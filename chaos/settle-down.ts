import { setTimeout as wait } from 'node:timers/promises';

import type { World } from './open-world';
import { withSlots } from './slots-of-world';

const LOOK_MS = 250;

export interface LeftBehind {
  readonly what: string;
  readonly count: number;
  readonly examples: readonly string[];
}

const UNFINISHED = `
  SELECT id::text AS id, status AS word FROM generation_tasks WHERE finished_at IS NULL ORDER BY id`;

/** Waits until every accepted generation has ended; answers the seconds since `from`, or what has not ended in time. */
export const untilAllEnded = async (
  world: World,
  fromMs: number,
  limitMs: number,
): Promise<{ readonly seconds: number; readonly left: LeftBehind | null }> => {
  for (;;) {
    const rows = await look(world, UNFINISHED);
    const seconds = (performance.now() - fromMs) / 1_000;
    if (rows?.length === 0) return { seconds, left: null };
    if (performance.now() - fromMs > limitMs) {
      return { seconds, left: leftBehind('generations that have not ended', rows ?? []) };
    }
    await wait(LOOK_MS);
  }
};

/** What is in the hands of no generation any more must come to rest: messages that are due, and slots. */
const RESTLESS: Readonly<Record<string, string>> = {
  'messages that are due': `
    SELECT event_id::text AS id, consumer_group || ' ' || type AS word FROM bus_messages
    WHERE status = 'READY' AND available_at < $1`,
  'outbox rows that are due': `
    SELECT id::text AS id, type AS word FROM outbox_events WHERE status = 'PENDING' AND available_at < $1`,
};

export const untilIdle = async (world: World, limitMs: number): Promise<LeftBehind[]> => {
  const beganMs = performance.now();
  for (;;) {
    const left: LeftBehind[] = [];
    for (const [what, sql] of Object.entries(RESTLESS)) {
      const rows = await look(world, sql, sql.includes('$1') ? [new Date()] : []);
      if (rows === null || rows.length > 0) left.push(leftBehind(what, rows ?? []));
    }
    const held = await leasesOf(world);
    if (held === null || held.length > 0) left.push(leftBehind('slots in use', held ?? []));
    if (left.length === 0 || performance.now() - beganMs > limitMs) return left;
    await wait(LOOK_MS);
  }
};

const leasesOf = (world: World): Promise<readonly { id: string; word: string }[] | null> =>
  withSlots(world, ({ leases }) => leases()).then(
    (leases) => leases.map(({ holder, token }) => ({ id: holder, word: `token ${token}` })),
    () => null,
  );

const look = async (
  world: World,
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly { id: string; word: string }[] | null> =>
  world.pool.query<{ id: string; word: string }>(sql, [...values]).then(
    ({ rows }) => rows,
    () => null,
  );

const leftBehind = (what: string, rows: readonly { id: string; word: string }[]): LeftBehind => ({
  what,
  count: rows.length,
  examples: rows.slice(0, 10).map(({ id, word }) => `${id} ${word}`),
});
