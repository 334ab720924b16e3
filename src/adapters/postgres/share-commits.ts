import type { Pool } from 'pg';

import type { Sharing } from '../../ports/unit-of-work';
import { runTransaction, type Database } from './database';
import { transactTogether, type Outcome } from './shared-transaction';

/** Transactions of one line that are open at once: what is asked for meanwhile goes together with the next. */
const OPEN_MAX = 1;
const TOGETHER_MAX = 16;
/** A transaction that takes longer no longer keeps those behind it waiting. */
const SLOW_MS = 250;
/** After so many transactions that failed by somebody else's fault, a piece of work goes alone. */
const SHARES_MAX = 2;

interface Entry {
  readonly subject: string;
  readonly work: (db: Database) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  shares: number;
}

interface Line {
  readonly waiting: Entry[];
  open: number;
}

/**
 * Transactions that may share their commit. One that comes while nothing of its line is under way begins at once; those that come
 * meanwhile go together, so that a load gathers by itself and nobody waits for company.
 */
export const createSharedCommits = (pool: Pool) => {
  const lines = new Map<string, Line>();

  const serve = (line: Line): void => {
    if (line.open >= OPEN_MAX || line.waiting.length === 0) return;
    line.open += 1;
    // What is asked for in the same turn goes along.
    setImmediate(() => {
      const batch = takeBatch(line);
      const leave = once(() => {
        line.open -= 1;
      });
      const slow = setTimeout(() => {
        leave();
        serve(line);
      }, SLOW_MS);
      void runBatch(pool, batch).then((again) => {
        clearTimeout(slow);
        line.waiting.unshift(...again);
        leave();
        serve(line);
      });
    });
  };

  return <T>({ line: name, subject }: Sharing, work: (db: Database) => Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const line = lines.get(name) ?? { waiting: [], open: 0 };
      lines.set(name, line);
      line.waiting.push({
        ...{ subject, work, reject, shares: 0 },
        resolve: resolve as (value: unknown) => void,
      });
      serve(line);
    });
};

/** No two of one subject, in the order of the subjects. */
const takeBatch = ({ waiting }: Line): Entry[] => {
  const batch = new Map<string, Entry>();
  for (let i = 0; i < waiting.length && batch.size < TOGETHER_MAX;) {
    const entry = waiting[i] as Entry;
    if (batch.has(entry.subject)) i += 1;
    else {
      batch.set(entry.subject, entry);
      waiting.splice(i, 1);
    }
  }
  return [...batch.values()].sort((a, b) => (a.subject < b.subject ? -1 : 1));
};

/** Answers those that failed by a neighbour's fault, and may share another commit. */
const runBatch = async (pool: Pool, batch: readonly Entry[]): Promise<Entry[]> => {
  const [only, ...others] = batch;
  if (only === undefined) return [];
  if (others.length === 0) {
    await runAlone(pool, only);
    return [];
  }
  const outcomes = await transactTogether(
    pool,
    batch.map(({ work }) => work),
  );
  return batch.filter((entry, index) =>
    isToShareAgain(pool, entry, outcomes[index] as Outcome<unknown>),
  );
};

const isToShareAgain = (pool: Pool, entry: Entry, outcome: Outcome<unknown>): boolean => {
  switch (outcome.kind) {
    case 'COMMITTED':
      entry.resolve(outcome.value);
      return false;
    case 'CUT_OFF':
      entry.reject(outcome.error);
      return false;
    case 'ROLLED_BACK':
      entry.shares += 1;
      if (!outcome.isOwn && entry.shares < SHARES_MAX) return true;
      // Whether it was its own fault, or that of the company, shows when it is alone.
      void runAlone(pool, entry);
      return false;
  }
};

const runAlone = (pool: Pool, { work, resolve, reject }: Entry): Promise<void> =>
  runTransaction(pool, work).then(resolve, reject);

const once = (act: () => void): (() => void) => {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
};
