import type { Log } from '../../../ports/log';
import {
  SlotsUnavailableError,
  type Rebuilt,
  type SlotHolder,
  type Slots,
  type SlotScope,
} from '../../../ports/slots';
import { loadScript } from '../load-script';
import type { RedisConnection, Script } from '../redis-connection';
import { slotKeysOf } from './slot-keys';

/** What Postgres knows of who may hold slots; asked when Redis may have lost something, or is away. */
export interface SlotFacts {
  holders(): Promise<readonly SlotHolder[]>;
  /** Those of the holders whose attempt has ended. */
  endedAmong(holders: readonly string[]): Promise<readonly string[]>;
}

export interface RedisSlotsOptions {
  readonly connection: RedisConnection;
  readonly prefix: string;
  readonly facts: SlotFacts;
  readonly log: Log;
  /**
   * How long nothing is granted after a loss: whoever took a slot right before it has committed the attempt by then, and is
   * counted from the facts.
   */
  readonly settleMs: number;
}

const script = (name: string): Script => loadScript(__dirname, 'prelude.lua', `${name}.lua`);

const TRIES_MAX = 3;
const OVER_GRANTED_MAX = 20;
/** Renewed with every rebuild; an idle store is forgotten a day later and filled again from the facts. */
const KEEP_MS = 24 * 3_600_000;
const GIVEN_UP_MAX = 500;

/**
 * Slots as one hash of leases and one of counts, changed together by scripts. Nothing is granted from a store that may have
 * lost leases (flushed, restarted, failed over): the process first waits for `settleMs`, then counts anew from the facts. While
 * Redis is away nothing is granted at all, and usage is counted from the facts.
 */
export const createRedisSlots = (options: RedisSlotsOptions): Slots => {
  const { connection, facts, log, settleMs } = options;
  const scripts = {
    acquire: script('acquire'),
    renew: script('renew'),
    release: script('release'),
    rebuild: script('rebuild'),
  };
  const { leases, used, limits, token: tokenKey, filled } = slotKeysOf(options.prefix);
  const keys = [leases, used, limits, tokenKey, filled];
  /** Holders whose call was not answered, with their token where they knew it: freed with the next acquire. */
  const givenUp = new Map<string, string>();
  let isTrusted = false;
  let lostAt: Date | null = null;
  let wasLost = false;
  connection.onReconnect(() => {
    isTrusted = false;
    wasLost = true;
  });

  const run = async (name: keyof typeof scripts, args: readonly unknown[]): Promise<unknown> => {
    try {
      return await connection.script(scripts[name], keys, [
        String(KEEP_MS),
        ...args.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))),
      ]);
    } catch (error) {
      throw new SlotsUnavailableError((error as Error).message, { cause: error });
    }
  };

  const giveUp = (holder: string, token: string): void => {
    // Beyond that many a slot is held until its lease has expired.
    if (givenUp.size < GIVEN_UP_MAX) givenUp.set(holder, token);
  };

  const fill = async (
    given: readonly SlotHolder[],
    ttlMs: number,
    now: Date,
  ): Promise<Rebuilt & { readonly isOpen: boolean }> => {
    const mayOpen = settleMs === 0 || (lostAt !== null && hasSettled(lostAt, now, settleMs));
    const answer = (await run('rebuild', [
      String(now.getTime()),
      later(now, ttlMs),
      given.map(({ holder, scopes }) => [holder, distinct(scopes).map(({ scope }) => scope)]),
      Object.fromEntries(limitsOf(given)),
      String(given.reduce((max, { token }) => (token !== null && token > max ? token : max), 0n)),
      mayOpen ? '1' : '0',
      String(OVER_GRANTED_MAX),
    ])) as [number, number, number, string[], string];
    const [removed, added, open, unsure, over] = answer;
    // The list may be older than this moment: whoever has ended since neither gets a lease nor keeps one.
    const ended = unsure.length === 0 ? [] : await facts.endedAmong(unsure);
    const freed =
      ended.length === 0 ? 0 : await run('release', [ended.map((holder) => [holder, ''])]);
    return {
      removed: removed + Number(freed),
      added,
      overGranted: overGrantedOf(JSON.parse(over)),
      isOpen: open === 1,
    };
  };

  const countAnew = async (ttlMs: number, now: Date): Promise<void> => {
    if (wasLost) {
      lostAt = now;
      wasLost = false;
    }
    if (lostAt !== null && !hasSettled(lostAt, now, settleMs)) {
      throw new SlotsUnavailableError('Redis may have lost slots: they are being counted anew');
    }
    const { isOpen, added } = await fill(await facts.holders(), ttlMs, now);
    if (!isOpen) {
      lostAt ??= now;
      throw new SlotsUnavailableError('Redis holds no slots: they are being counted anew');
    }
    if (lostAt !== null) log.info('slots were counted anew from the attempts', { added });
    isTrusted = !wasLost;
    lostAt = null;
  };
  let counting: Promise<void> | null = null;
  const trust = (ttlMs: number, now: Date): Promise<void> =>
    (counting ??= countAnew(ttlMs, now).finally(() => (counting = null)));

  const acquire: Slots['acquire'] = async (holder, scopes, ttlMs, now) => {
    const wanted = distinct(scopes).map(({ scope, limitMax }) => [scope, limitMax]);
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      if (!isTrusted) await trust(ttlMs, now);
      const unanswered = [...givenUp];
      let answer: readonly string[];
      try {
        answer = (await run('acquire', [
          holder,
          later(now, ttlMs),
          unanswered,
          wanted,
        ])) as string[];
      } catch (error) {
        giveUp(holder, '');
        throw error;
      }
      const [kind, detail = ''] = answer;
      if (kind === 'UNFILLED') {
        isTrusted = false;
        lostAt ??= now;
        continue;
      }
      for (const [each] of unanswered) givenUp.delete(each);
      if (wasLost) {
        // Sent again by itself over a new connection: what granted it may have forgotten others.
        await run('release', [[[holder, '']]]);
        continue;
      }
      return kind === 'FULL'
        ? { kind: 'FULL', scope: detail }
        : { kind: 'ACQUIRED', token: BigInt(detail) };
    }
    throw new SlotsUnavailableError('Redis loses slots again and again');
  };

  const release: Slots['release'] = async (holder, token) => {
    try {
      return (await run('release', [[[holder, String(token)]]])) === 1;
    } catch (error) {
      giveUp(holder, String(token));
      throw error;
    }
  };

  const renew: Slots['renew'] = async (holder, token, ttlMs, now) =>
    (await run('renew', [holder, String(token), later(now, ttlMs)])) === 1;

  const usage: Slots['usage'] = async (scopes) => {
    if (scopes.length === 0) return {};
    try {
      const counts = await connection.call((redis) => redis.hmget(used, ...scopes));
      return Object.fromEntries(scopes.map((scope, index) => [scope, Number(counts[index] ?? 0)]));
    } catch (error) {
      log.debug('slots in use are counted from the attempts', { error: String(error) });
      return countFacts(await facts.holders(), scopes);
    }
  };

  const rebuild: Slots['rebuild'] = async (holders, ttlMs, now) => {
    const { isOpen, ...rebuilt } = await fill(holders, ttlMs, now);
    if (!isOpen) lostAt ??= now;
    return rebuilt;
  };

  return { acquire, renew, release, usage, rebuild };
};

const later = (now: Date, ms: number): string => String(now.getTime() + ms);

const hasSettled = (lostAt: Date, now: Date, settleMs: number): boolean =>
  now.getTime() - lostAt.getTime() >= settleMs;

/** A scope that is named twice counts once, with its lower limit. */
const distinct = (scopes: readonly SlotScope[]): SlotScope[] => {
  const limits = new Map<string, number>();
  for (const { scope, limitMax } of scopes) {
    limits.set(scope, Math.min(limitMax, limits.get(scope) ?? limitMax));
  }
  return [...limits].map(([scope, limitMax]) => ({ scope, limitMax }));
};

const limitsOf = (given: readonly SlotHolder[]): ReadonlyMap<string, number> =>
  new Map(
    distinct(given.flatMap(({ scopes }) => scopes)).map(({ scope, limitMax }) => [scope, limitMax]),
  );

const overGrantedOf = (over: unknown): Rebuilt['overGranted'] =>
  // Lua's empty list is an empty object.
  Array.isArray(over)
    ? (over as [string, number, number, number][]).map(([scope, counted, leases, limitMax]) => ({
        scope,
        counted,
        leases,
        limitMax,
      }))
    : [];

const countFacts = (
  holders: readonly SlotHolder[],
  scopes: readonly string[],
): Readonly<Record<string, number>> => {
  const counted = new Map(scopes.map((scope) => [scope, 0]));
  for (const { scope } of holders.flatMap((each) => distinct(each.scopes))) {
    const before = counted.get(scope);
    if (before !== undefined) counted.set(scope, before + 1);
  }
  return Object.fromEntries(counted);
};
