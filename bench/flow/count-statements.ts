import type { Client } from 'pg';

export interface StatementCount {
  readonly query: string;
  readonly calls: number;
  readonly totalMs: number;
}

/** Counts what `work` makes the server run in a database, most frequent first; BEGIN and COMMIT included. */
export const countStatements = async (
  admin: Client,
  databaseUrl: string,
  work: () => Promise<void>,
): Promise<StatementCount[]> => {
  await admin.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  await admin.query("ALTER SYSTEM SET pg_stat_statements.track = 'top'");
  await admin.query('SELECT pg_reload_conf()');
  await admin.query('SELECT pg_stat_statements_reset()');
  await work();
  const { rows } = await admin.query<{ calls: string; total_ms: number; query: string }>(
    `SELECT sum(calls) AS calls, sum(total_exec_time) AS total_ms, query FROM pg_stat_statements
     WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1)
     GROUP BY query ORDER BY 1 DESC`,
    [new URL(databaseUrl).pathname.slice(1)],
  );
  await admin.query('ALTER SYSTEM RESET pg_stat_statements.track');
  await admin.query('SELECT pg_reload_conf()');
  return rows.map((row) => ({
    query: row.query.replace(/\s+/g, ' ').slice(0, 100),
    calls: Number(row.calls),
    totalMs: row.total_ms,
  }));
};
