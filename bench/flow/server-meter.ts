import { readFileSync, readdirSync } from 'node:fs';

import type { Client } from 'pg';

/** What the server has done so far: commits in the product's database, WAL in all. */
export interface ServerReading {
  readonly commits: number;
  /** Commits that waited for the disk share these. */
  readonly walSyncs: number;
  readonly walBytes: number;
}

const TICKS_PER_SECOND = 100;

export const readServer = async (client: Client): Promise<ServerReading> => {
  const { rows } = await client.query<{ commits: string; wal_bytes: string; wal_syncs: string }>(
    `SELECT (SELECT xact_commit FROM pg_stat_database WHERE datname = 'aivedio') AS commits,
            (SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal') AS wal_syncs,
            pg_current_wal_lsn() - '0/0'::pg_lsn AS wal_bytes`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('The server has no statistics');
  return {
    commits: Number(row.commits),
    walSyncs: Number(row.wal_syncs),
    walBytes: Number(row.wal_bytes),
  };
};

/** CPU of the server, its ended backends and its living ones; null where the system has no /proc. */
export const serverCpuMs = (serverPid: number): number | null => {
  try {
    const own = processTicks(serverPid);
    if (own === null) return null;
    const living = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => processTicks(Number(name)))
      .filter((each) => each?.parent === serverPid)
      .reduce((sum, each) => sum + (each?.ticks ?? 0), 0);
    return ((own.ticks + own.endedChildren + living) * 1_000) / TICKS_PER_SECOND;
  } catch {
    return null;
  }
};

const processTicks = (
  pid: number,
): { readonly parent: number; readonly ticks: number; readonly endedChildren: number } | null => {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
  } catch {
    // It ended between the listing and the look.
    return null;
  }
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [, parent = 0] = fields;
  return {
    parent,
    ticks: (fields[11] ?? 0) + (fields[12] ?? 0),
    endedChildren: (fields[13] ?? 0) + (fields[14] ?? 0),
  };
};
