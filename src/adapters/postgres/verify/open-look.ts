import { Client } from 'pg';

import type { Facts } from '../../../domain/reconciliation/facts';
import type { Evidence, FactsLook, Found, TaskBatch } from '../../../ports/verification';
import { rowTypes } from '../row-types';
import { lookStatementOf } from './look-statements';

export interface LookOptions {
  readonly connectionString: string;
  readonly connectionTimeoutMs: number;
  readonly statementTimeoutMs: number;
}

type Ask = <Row>(name: string, parameters?: Readonly<Record<string, unknown>>) => Promise<Row[]>;

const EVIDENCE_BATCH = 2_000;

/** Opens one connection; the rows of all reads are those of one instant, the first read's. Nothing is written but evidence. */
export const openLook = async (options: LookOptions): Promise<FactsLook> => {
  const client = new Client({
    connectionString: options.connectionString,
    connectionTimeoutMillis: options.connectionTimeoutMs,
    statement_timeout: options.statementTimeoutMs,
    application_name: 'aivedio verify',
    types: rowTypes,
    options: '-c TimeZone=UTC -c jit=off',
  });
  // A server that goes away between two reads is told by the next one.
  client.on('error', () => undefined);
  await client.connect();
  const ask: Ask = async <Row>(name: string, parameters = {}) => {
    const { text, parameters: names } = lookStatementOf(name);
    const { rows } = await client.query<Record<string, unknown>>(
      text,
      names.map((each) => (parameters as Record<string, unknown>)[each]),
    );
    return rows.map(camelCaseKeys) as Row[];
  };
  await ask('create-evidence');
  await ask('index-evidence');
  let began = false;
  const read: Ask = async <Row>(name: string, parameters = {}) => {
    if (!began) {
      began = true;
      await client.query('ANALYZE evidence');
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    }
    return ask<Row>(name, parameters);
  };
  return {
    witness: async (evidence) => {
      if (began) throw new Error('Evidence must be told before the first read');
      return storeEvidence(ask, evidence);
    },
    readTasks: (after, limit) => readTasks(read, after, limit),
    readAccounts: async (after, limit) => {
      const accounts = await read<Facts['accounts'][number]>('read-accounts-after', {
        after,
        limit,
      });
      const tenantIds = accounts.map((row) => row.tenantId);
      const first = after === NIL;
      const facts: Facts = {
        ...NOTHING,
        accounts,
        ledger: await read('sum-ledger-of', { tenantIds, first }),
        holds: await read('sum-open-holds-of', { tenantIds }),
      };
      return { facts, last: tenantIds.at(-1) ?? null };
    },
    find: (check, parameters) => read<Found>(check, { ...parameters }),
    countRows: async () => {
      const [row] = await read<{ counted: bigint }>('count-rows');
      return Number(row?.counted ?? 0n);
    },
    close: () => client.end(),
  };
};

/** Smaller than every id. */
export const NIL = '00000000-0000-0000-0000-000000000000';

const NOTHING: Facts = {
  tasks: [],
  attempts: [],
  history: [],
  holds: [],
  ledger: [],
  accounts: [],
  pendingSettlements: [],
  providerJobs: [],
};

const readTasks = async (read: Ask, after: string, limit: number): Promise<TaskBatch> => {
  const tasks = await read<Facts['tasks'][number] & { createdAt: Date }>('read-tasks-after', {
    after,
    limit,
  });
  const taskIds = tasks.map((task) => task.id);
  const of = { taskIds };
  const facts: Facts = {
    ...NOTHING,
    tasks,
    attempts: await read('read-attempts-of', of),
    history: await read('read-history-of', of),
    holds: await read('read-holds-of', of),
    ledger: await read('read-ledger-of', of),
    pendingSettlements: (await read<{ taskId: string }>('read-pending-settlements-of', of)).map(
      ({ taskId }) => taskId,
    ),
    providerJobs: await read('read-jobs-of', of),
  };
  return {
    facts,
    last: taskIds.at(-1) ?? null,
    createdSince: (instant) =>
      new Set(tasks.filter((task) => task.createdAt >= instant).map((task) => task.id)),
  };
};

const storeEvidence = async (
  ask: Ask,
  evidence: Iterable<Evidence> | AsyncIterable<Evidence>,
): Promise<number> => {
  let batch: Evidence[] = [];
  let stored = 0;
  const flush = async (): Promise<void> => {
    await ask('insert-evidence', {
      kinds: batch.map((each) => each.kind),
      ids: batch.map((each) => each.id),
      references: batch.map((each) => each.reference),
      amounts: batch.map((each) => each.amount),
      ats: batch.map((each) => each.at),
    });
    stored += batch.length;
    batch = [];
  };
  for await (const each of evidence) {
    batch.push(each);
    if (batch.length === EVIDENCE_BATCH) await flush();
  }
  if (batch.length > 0) await flush();
  return stored;
};

const camelCaseKeys = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).map(([key, value]) => [
      key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
