import { Client } from 'pg';

import { statementOf } from '../../src/adapters/postgres/statements';
import { startBenchServer } from '../flow/bench-server';
import { fillTasks } from './fill-tasks';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

interface Measured {
  readonly name: string;
  readonly rowsRead: number;
  readonly buffers: number;
  readonly ms: number;
}

/** The looks of one pass of the reconciler, as its loops run them. */
const PASS = [
  'list-overdue-tasks',
  'list-lease-lost-attempts',
  'list-matchable-orphans',
  'list-stuck-tasks',
  'list-unbooked-costs',
  'list-raw-to-derive-again',
  'list-stuck-validations',
  'list-media-given-up',
  'list-retention-over',
  'list-slot-holders',
  'list-expired-uploads',
  'list-held-mismatches',
  'count-live-of-tenant',
] as const;

interface ReconcileOptions {
  readonly terminal: number;
  readonly live: number;
}

export const readReconcileOptions = (args: readonly string[]): ReconcileOptions => ({
  terminal: args.includes('--short') ? 50_000 : 1_000_000,
  live: 1_000,
});

/** Whether a pass reads what lives, however much is over: rows that its statements touched, pages, and milliseconds. */
export const runReconcileBench = async (tasks: ReconcileOptions): Promise<void> => {
  const server = await startBenchServer(1);
  // Only a superuser may write past the triggers; the tables are in the product's database.
  const url = new URL(server.superuserUrl);
  url.pathname = new URL(server.databaseUrl).pathname;
  const client = new Client({ connectionString: url.href });
  try {
    await client.connect();
    const tenantId = server.tenantIds[0];
    if (tenantId === undefined) throw new Error('The bench has no tenant');
    const began = Date.now();
    await fillTasks(client, tenantId, tasks);
    print(
      `${tasks.terminal} ended and ${tasks.live} living generations, filled in ${since(began)}`,
    );
    const measured: Measured[] = [];
    for (const name of PASS) measured.push(await measure(client, name, tenantId));
    for (const each of measured) print(rowOf(each));
    print(
      rowOf({
        name: 'the whole pass',
        rowsRead: sum(measured.map(({ rowsRead }) => rowsRead)),
        buffers: sum(measured.map(({ buffers }) => buffers)),
        ms: sum(measured.map(({ ms }) => ms)),
      }),
    );
  } finally {
    await client.end().catch(() => undefined);
    await server.stop();
  }
};

const measure = async (client: Client, name: string, tenantId: string): Promise<Measured> => {
  const { text, parameters } = statementOf(name);
  const now = new Date();
  const before = new Date(now.getTime() - 60_000);
  const given: Readonly<Record<string, unknown>> = {
    now,
    before: name === 'list-raw-to-derive-again' ? before.toISOString() : before,
    unleasedBefore: before,
    limit: 100,
    tenantId,
  };
  const explain = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`;
  const values = parameters.map((parameter) => given[parameter]);
  // Twice: the first one warms the pages that any pass after the first finds warm.
  await client.query(explain, values);
  const { rows } = await client.query<{ 'QUERY PLAN': readonly ExplainAnswer[] }>(explain, values);
  const answer = rows[0]?.['QUERY PLAN'][0];
  if (answer === undefined) throw new Error(`${name} was not explained`);
  return {
    name,
    rowsRead: rowsReadBy(answer.Plan),
    buffers: answer.Plan['Shared Hit Blocks'] + answer.Plan['Shared Read Blocks'],
    ms: answer['Execution Time'],
  };
};

interface ExplainAnswer {
  readonly Plan: PlanNode & {
    readonly 'Shared Hit Blocks': number;
    readonly 'Shared Read Blocks': number;
  };
  readonly 'Execution Time': number;
}

/** Rows that scans fetched, those included that a filter threw away. */
const rowsReadBy = (node: PlanNode): number => {
  const below = sum((node.Plans ?? []).map(rowsReadBy));
  if (!/Scan$/.test(node['Node Type']) || /CTE|Subquery|Bitmap Index/.test(node['Node Type']))
    return below;
  const removed =
    (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return below + Math.round((node['Actual Rows'] + removed) * node['Actual Loops']);
};

const rowOf = ({ name, rowsRead, buffers, ms }: Measured): string =>
  `${name.padEnd(28)} ${String(rowsRead).padStart(9)} rows ${String(buffers).padStart(9)} pages ${ms.toFixed(1).padStart(9)} ms`;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);
const since = (began: number): string => `${((Date.now() - began) / 1000).toFixed(0)} s`;
const print = (line: string): void => void process.stdout.write(`${line}\n`);
