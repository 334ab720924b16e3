import { randomBytes } from 'node:crypto';
import { chown, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { DataFolder } from './data-folder';
import { EmbeddedPostgresError } from './embedded-postgres-error';
import { runCommand } from './run-command';
import { SUPERUSER_NAME } from './running-server';
import type { ServerBinaries } from './server-binaries';
import type { ServerUser } from './server-user';

const PASSWORD_BYTES = 24;
const MAJOR_VERSION = '18';

/** The password of the server on this folder, made on first use. The file is 0600. */
export async function readOrMakePassword(folder: DataFolder, user: ServerUser): Promise<string> {
  const existing = await readFile(folder.passwordFile, 'utf8').catch(() => '');
  if (existing.trim() !== '') return existing.trim();
  if (await stat(folder.cluster).catch(() => undefined)) {
    throw new EmbeddedPostgresError(
      `The file ${folder.passwordFile}, which opens the database beside it, is missing.`,
      'Restore it from a copy, or delete the whole data folder to begin anew.',
    );
  }
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  await writeFile(folder.passwordFile, `${password}\n`, { mode: 0o600 });
  if (user.switchTo !== undefined) {
    await chown(folder.passwordFile, user.switchTo.uid, user.switchTo.gid);
  }
  return password;
}

/** Runs initdb once. A half-made cluster of an interrupted start is thrown away and made again. */
export async function initialiseCluster(
  folder: DataFolder,
  binaries: ServerBinaries,
  user: ServerUser,
): Promise<void> {
  const version = await readFile(path.join(folder.cluster, 'PG_VERSION'), 'utf8').catch(() => '');
  if (version.trim() === MAJOR_VERSION) return;
  if (version.trim() !== '') {
    throw new EmbeddedPostgresError(
      `The data in ${folder.root} was written by Postgres ${version.trim()}; this program brings ${MAJOR_VERSION}.`,
      'Dump it with the old version and load it into a new data folder.',
    );
  }
  const draft = `${folder.cluster}.new`;
  await rm(draft, { recursive: true, force: true });
  const result = await runCommand(
    binaries.initdb,
    [
      `--pgdata=${draft}`,
      `--username=${SUPERUSER_NAME}`,
      `--pwfile=${folder.passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--data-checksums',
      '--no-instructions',
    ],
    { user, workingFolder: folder.root },
  );
  if (result.code !== 0) {
    throw new EmbeddedPostgresError(
      `Postgres could not initialise ${folder.root}: ${result.output.trim()}`,
      'Check free disk space and permissions (`npm run doctor`), or set AIVEDIO_DATABASE_URL to a server of your own.',
    );
  }
  await rename(draft, folder.cluster);
}
