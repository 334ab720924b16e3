import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { EmbeddedPostgresError } from './embedded-postgres-error';

const LOOPBACK = '127.0.0.1';

/**
 * Chooses a port: the one asked for, or else the one used last time when it is free, so that an
 * operator's saved connection keeps working, or else any free one. Throws
 * `EmbeddedPostgresError` when the port asked for is taken.
 */
export async function chooseServerPort(portFile: string, asked?: number): Promise<number> {
  if (asked !== undefined) {
    if ((await tryListen(asked)) !== undefined) return asked;
    throw new EmbeddedPostgresError(
      `Port ${String(asked)} is taken by another program.`,
      'Stop that program or choose another port.',
    );
  }
  const remembered = Number(await readFile(portFile, 'utf8').catch(() => ''));
  const wanted =
    Number.isInteger(remembered) && remembered > 0 ? await tryListen(remembered) : undefined;
  const port = wanted ?? (await tryListen(0));
  if (port === undefined) {
    throw new EmbeddedPostgresError(
      'No port on 127.0.0.1 can be listened on.',
      'Check the limits of this machine or container.',
    );
  }
  return port;
}

/** Keeps the port for the next start. */
export async function rememberServerPort(portFile: string, port: number): Promise<void> {
  await writeFile(portFile, `${String(port)}\n`);
}

function tryListen(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, LOOPBACK, () => {
      const { port: chosen } = server.address() as AddressInfo;
      server.close(() => resolve(chosen));
    });
  });
}
