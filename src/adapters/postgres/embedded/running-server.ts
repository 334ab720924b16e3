import { execFile } from 'node:child_process';
import { readFile, readlink, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

import { Client } from 'pg';

import type { DataFolder } from './data-folder';
import { EmbeddedPostgresError } from './embedded-postgres-error';
import { isProcessAlive } from './start-lock';

const runFile = promisify(execFile);
const POLL_MS = 100;
const START_ATTEMPTS_MAX = 1200;
const CANNOT_CONNECT_NOW = '57P03';

export const SUPERUSER_NAME = 'postgres';

export interface RunningServer {
  readonly pid: number;
  readonly port: number;
}

/** The first and fourth line of postmaster.pid, or undefined when there is no such file. */
export async function readServerPidFile(folder: DataFolder): Promise<RunningServer | undefined> {
  const text = await readFile(path.join(folder.cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  return Number.isInteger(pid) && pid > 0 ? { pid, port: Number(lines[3]) } : undefined;
}

/**
 * Finds a server that already runs on this data, waiting while it starts up or recovers.
 *
 * A crash leaves postmaster.pid behind, and in a container its number soon belongs to some other
 * process, which makes Postgres refuse to start. So a file whose process is not a Postgres of this
 * folder is removed. A server is only believed when our password opens it.
 */
export async function findRunningServer(
  folder: DataFolder,
  password: string,
): Promise<RunningServer | undefined> {
  for (let attempt = 0; attempt < START_ATTEMPTS_MAX; attempt += 1) {
    const written = await readServerPidFile(folder);
    if (written === undefined) return undefined;
    if (!isProcessAlive(written.pid) || !(await isServerOf(folder, written.pid))) {
      await rm(path.join(folder.cluster, 'postmaster.pid'), { force: true });
      return undefined;
    }
    if (await acceptsConnections(written.port, password)) return written;
    await wait(POLL_MS);
  }
  throw new EmbeddedPostgresError(
    `A Postgres server runs on ${folder.root} but does not accept connections.`,
    `Read ${path.join(folder.cluster, 'log')}, stop that server, then start again.`,
  );
}

async function isServerOf(folder: DataFolder, pid: number): Promise<boolean> {
  if (process.platform === 'win32') return true;
  if (process.platform === 'linux') {
    const workingFolder = await readlink(`/proc/${String(pid)}/cwd`).catch(() => undefined);
    if (workingFolder !== undefined) {
      const cluster = await realpath(folder.cluster).catch(() => folder.cluster);
      return workingFolder === cluster;
    }
  }
  const command = await runFile('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => undefined);
  return command === undefined || command.stdout.includes('postgres');
}

async function acceptsConnections(port: number, password: string): Promise<boolean> {
  const client = new Client({
    host: '127.0.0.1',
    port,
    user: SUPERUSER_NAME,
    password,
    database: 'postgres',
    connectionTimeoutMillis: 5_000,
  });
  // A server that goes away while being asked reports it here too; the answer below is enough.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code === CANNOT_CONNECT_NOW || code === 'ECONNREFUSED' || code === 'ECONNRESET')
      return false;
    throw new EmbeddedPostgresError(
      `The Postgres server on port ${String(port)} refused our password or connection (${code ?? String(error)}).`,
      'If the file named password was changed, put the old one back.',
      { cause: error },
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}
