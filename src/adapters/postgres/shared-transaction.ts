import type { Pool, PoolClient, QueryArrayConfig, QueryArrayResult } from 'pg';

import { isConnectionFault, isInFailedTransaction } from './database-errors';
import {
  holdBackWrites,
  rollBack,
  withClient,
  type Database,
  type Place,
  type PlaceRank,
} from './database';
import { joinStatements } from './joined-statements';
import { transactionSettingsOf } from './pool';

export type Outcome<T> =
  | { readonly kind: 'COMMITTED'; readonly value: T }
  /** Nothing was committed. `isOwn`: this piece of work failed; else it only shared the fate of one that did. */
  | { readonly kind: 'ROLLED_BACK'; readonly error: unknown; readonly isOwn: boolean }
  /** The database went away: nobody knows. */
  | { readonly kind: 'CUT_OFF'; readonly error: unknown };

/** Rather than wait for long with the locks of all its neighbours, a piece of work is repeated by itself. */
const LOCK_WAIT_MS = 500;

/**
 * Several pieces of work in one transaction: their statements travel in rounds, of which each is one packet, and they share the
 * commit. They must be independent of each other; what one of them does wrong undoes all.
 *
 * A round is sent when no statement is under way, and holds what all have asked for by then. Locks keep their order across all
 * pieces: nobody's task is locked after somebody's account, and those of one rank are taken in the order of their keys.
 */
export const transactTogether = async <T>(
  pool: Pool,
  works: readonly ((db: Database) => Promise<T>)[],
): Promise<readonly Outcome<T>[]> => {
  try {
    return await withClient(pool, (client) =>
      transactOnce(client, works, transactionSettingsOf(pool)),
    );
  } catch (error) {
    // Even the commit may have been heard. Any other error says that nothing was kept.
    const kind = isConnectionFault(error) ? 'CUT_OFF' : 'ROLLED_BACK';
    return works.map(() => ({ kind, error, isOwn: true }));
  }
};

const transactOnce = async <T>(
  client: PoolClient,
  works: readonly ((db: Database) => Promise<T>)[],
  settings: string | null,
): Promise<readonly Outcome<T>[]> => {
  const rounds = new Rounds(client, settings);
  const settled = await Promise.allSettled(works.map((work) => rounds.run(work)));
  const errors = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  const cut = errors.find(isConnectionFault) as Error | undefined;
  if (cut !== undefined) throw cut;
  if (errors.length > 0) {
    await rollBack(client, null);
    return settled.map((each): Outcome<T> => {
      const isOwn = each.status === 'rejected' && !isFateOfOthers(each.reason);
      return { kind: 'ROLLED_BACK', error: isOwn ? each.reason : new ShareFailedError(), isOwn };
    });
  }
  const { command } = await client.query('COMMIT');
  // Postgres answers COMMIT of a failed transaction with a quiet ROLLBACK.
  if (command !== 'COMMIT') throw new Error('A failed statement was passed over: rolled back');
  return settled.flatMap((each): Outcome<T>[] =>
    each.status === 'fulfilled' ? [{ kind: 'COMMITTED', value: each.value }] : [],
  );
};

/** Another piece of work of the transaction failed; what this one still asks for is not done. */
class ShareFailedError extends Error {}

const isFateOfOthers = (error: unknown): boolean =>
  error instanceof ShareFailedError || isInFailedTransaction(error);

interface Asked {
  readonly query: QueryArrayConfig;
  readonly place: Place | undefined;
  readonly resolve: (result: QueryArrayResult) => void;
  readonly reject: (error: unknown) => void;
}

/** One piece of work: what it has asked for and not been sent, in order, and the last rank of locks that it has passed. */
interface Member {
  readonly asked: Asked[];
  passed: number;
}

const RANKS: readonly PlaceRank[] = ['TASK', 'PROVIDER_ACCOUNT', 'ACCOUNT'];

class Rounds {
  private readonly members = new Set<Member>();
  private underWay = 0;
  private isPlanned = false;
  private isBegun = false;
  private hasFailed = false;

  constructor(
    private readonly client: PoolClient,
    private readonly settings: string | null,
  ) {}

  async run<T>(work: (db: Database) => Promise<T>): Promise<T> {
    const member: Member = { asked: [], passed: -1 };
    this.members.add(member);
    const db: Database = {
      execute: (query, place) => this.ask(member, query, place),
      atomically: (inner) => inner(db),
      lockWaitMs: LOCK_WAIT_MS,
    };
    try {
      return await work(db);
    } catch (error) {
      this.fail();
      throw error;
    } finally {
      this.members.delete(member);
      this.plan();
    }
  }

  private ask(
    member: Member,
    query: QueryArrayConfig,
    place: Place | undefined,
  ): Promise<QueryArrayResult> {
    if (this.hasFailed) return Promise.reject(new ShareFailedError());
    return new Promise((resolve, reject) => {
      member.asked.push({ query, place, resolve, reject });
      this.plan();
    });
  }

  private fail(): void {
    this.hasFailed = true;
    for (const { asked } of this.members) {
      for (const { reject } of asked.splice(0)) reject(new ShareFailedError());
    }
  }

  /** At the end of the turn, when all that the last answers made possible has been asked for. */
  private plan(): void {
    if (this.isPlanned || this.underWay > 0) return;
    this.isPlanned = true;
    setImmediate(() => {
      this.isPlanned = false;
      this.send();
    });
  }

  private send(): void {
    const round = this.nextRound();
    if (round.length === 0) return;
    holdBackWrites(this.client);
    if (!this.isBegun) this.begin();
    for (const { query, askers } of round.flatMap(joinStatements)) {
      this.underWay += 1;
      const { name, ...unnamed } = query;
      this.client
        .query<unknown[]>(this.settings === null ? { name, ...unnamed } : unnamed)
        .then(askers.resolve, (error: unknown) => {
          this.hasFailed = true;
          askers.reject(error);
        })
        .finally(() => {
          this.underWay -= 1;
          if (this.underWay > 0) return;
          if (this.hasFailed) this.fail();
          this.plan();
        });
    }
  }

  /** It can only fail together with the connection, and then the next statement fails as well. */
  private begin(): void {
    this.isBegun = true;
    const limit = `SET LOCAL lock_timeout = ${String(LOCK_WAIT_MS)}`;
    const { settings } = this;
    this.client
      .query(settings === null ? `BEGIN; ${limit}` : `BEGIN; ${settings}; ${limit}`)
      .catch(() => undefined);
  }

  /** What is sent now, in rows: a statement may only be joined with others of its row, or it would overtake what its work asked for before. */
  private nextRound(): Asked[][] {
    const rows: Asked[][] = [];
    const takeFree = (): void => {
      for (;;) {
        const row = [...this.members].flatMap(({ asked }) =>
          asked[0]?.place === undefined ? asked.splice(0, 1) : [],
        );
        if (row.length === 0) return;
        rows.push(row);
      }
    };
    takeFree();
    for (const [rank, name] of RANKS.entries()) {
      const members = [...this.members];
      const heads = members.filter(({ asked }) => asked[0]?.place?.rank === name);
      if (heads.length === 0 || !members.every((each) => hasComeTo(each, rank))) continue;
      heads.sort((a, b) => compare(keyOf(a), keyOf(b)));
      for (const head of heads) head.passed = Math.max(head.passed, rank);
      rows.push(heads.flatMap(({ asked }) => asked.splice(0, 1)));
      takeFree();
    }
    return rows;
  }
}

/** Whether a piece of work stands at a lock of this rank or a later one, or has passed it. */
const hasComeTo = (member: Member, rank: number): boolean => {
  if (member.passed >= rank) return true;
  const place = member.asked[0]?.place;
  return place !== undefined && RANKS.indexOf(place.rank) >= rank;
};

const keyOf = ({ asked }: Member): string => asked[0]?.place?.key ?? '';

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
