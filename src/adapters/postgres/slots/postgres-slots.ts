import type { Pool } from 'pg';

import type { Rebuilt, Slots, SlotScope } from '../../../ports/slots';
import { poolDatabase } from '../database';
import { gather } from '../gather';
import { run, runForOnly } from '../run-statement';

/** Each try loses only to somebody who came first: with a new scope, or the same holder. */
const TRIES_MAX = 5;
const OVER_GRANTED_MAX = 20;

export interface PostgresSlotsOptions {
  /** Opened with synchronous_commit=off: slots are rebuilt from the attempts at any time. */
  readonly pool: Pool;
}

interface AcquireRow {
  readonly token: bigint | null;
  readonly fullScope: string | null;
  readonly known: number;
}

/** Slots as a counter per scope and a lease per holder, changed together in one statement. */
export const createPostgresSlots = ({ pool }: PostgresSlotsOptions): Slots => {
  const db = poolDatabase(pool);

  const acquire: Slots['acquire'] = async (holder, scopes, ttlMs, now) => {
    const wanted = columnsOf(scopes);
    const params = { holder, ...wanted, expiresAt: later(now, ttlMs), now };
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      const row = await runForOnly<AcquireRow>(db, 'acquire-slots-if-free', params);
      if (row.token !== null) return { kind: 'ACQUIRED', token: row.token };
      if (row.fullScope !== null) return { kind: 'FULL', scope: row.fullScope };
      if (row.known < wanted.scopes.length) {
        await run(db, 'create-slot-scopes-if-missing', { ...wanted, now });
      }
    }
    throw new Error(`Slots of ${holder} were contended ${String(TRIES_MAX)} times.`);
  };

  const renew: Slots['renew'] = async (holder, token, ttlMs, now) => {
    const expiresAt = later(now, ttlMs);
    const renewed = await run(db, 'renew-slot-lease-if-held', { holder, token, expiresAt });
    return renewed.length === 1;
  };

  const release: Slots['release'] = async (holder, token, now) => {
    const released = await run(db, 'release-slot-lease-if-held', { holder, token, now });
    return released.length === 1;
  };

  const usage = gather<readonly string[], Readonly<Record<string, number>>>(async (asked) => {
    const rows = await run<{ scope: string; inUse: number }>(db, 'list-slot-scopes-in-use', {
      scopes: [...new Set(asked.flat())],
    });
    const inUse = new Map(rows.map((row) => [row.scope, row.inUse]));
    return asked.map((scopes) =>
      Object.fromEntries(scopes.map((scope) => [scope, inUse.get(scope) ?? 0])),
    );
  });

  const rebuild: Slots['rebuild'] = async (holders, ttlMs, now) => {
    const scopesByHolder = new Map(
      holders.map(({ holder, scopes }) => [holder, columnsOf(scopes).scopes]),
    );
    const given = [...scopesByHolder].map(([holder, scopes]) => ({ holder, scopes }));
    const limits = columnsOf(holders.flatMap(({ scopes }) => scopes));
    return db.atomically(async (tx) => {
      await run(tx, 'lock-slot-scopes', {});
      // Before leases go: what leaked is counted rightly until then.
      const overGranted = await run<Rebuilt['overGranted'][number]>(
        tx,
        'list-over-granted-scopes',
        { limit: OVER_GRANTED_MAX },
      );
      const differed = await runForOnly<{ removed: number; added: number }>(
        tx,
        'rebuild-slot-leases',
        { holders: JSON.stringify(given), expiresAt: later(now, ttlMs), now },
      );
      await run(tx, 'recount-slot-scopes', { ...limits, now });
      return { ...differed, overGranted };
    });
  };

  return { acquire, renew, release, usage, rebuild };
};

const later = (now: Date, ms: number): Date => new Date(now.getTime() + ms);

/** Scopes as columns; one that is named twice counts once, with its lower limit. */
const columnsOf = (scopes: readonly SlotScope[]): { scopes: string[]; limits: number[] } => {
  const limits = new Map<string, number>();
  for (const { scope, limitMax } of scopes) {
    limits.set(scope, Math.min(limitMax, limits.get(scope) ?? limitMax));
  }
  return { scopes: [...limits.keys()], limits: [...limits.values()] };
};
