import { createHash, randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { NoticeLog } from '../notice-log';

import { EmbeddedPostgresError } from './embedded-postgres-error';
import { findFallbackRoot } from './fallback-roots';
import { findClosedFolder } from './server-user';
import type { ServerUser } from './server-user';

/** Left in the folder that was asked for, when the data had to live elsewhere. Holds one path. */
const POINTER_FILE = 'moved-to';

/** The files of one embedded server. All paths are absolute. */
export interface DataFolder {
  readonly root: string;
  /** Postgres's own data directory. */
  readonly cluster: string;
  readonly passwordFile: string;
  readonly portFile: string;
  readonly ownerFile: string;
  readonly lockFile: string;
  /** What the server says before it opens its own log below `cluster/log`. */
  readonly startLog: string;
}

/**
 * Makes the folder for the server's data and answers where it really is. It is `dataDir` itself,
 * unless the server's account cannot enter it or the file system keeps no permissions (Postgres
 * insists on 0700); then it is a folder elsewhere, named in a notice and in `dataDir/moved-to`.
 */
export async function prepareDataFolder(
  dataDir: string,
  user: ServerUser,
  log: NoticeLog,
): Promise<DataFolder> {
  const asked = path.resolve(dataDir);
  await makeFolder(asked);
  const moved = await readFile(path.join(asked, POINTER_FILE), 'utf8').catch(() => '');
  if (moved.trim() !== '') {
    await makeFolder(moved.trim());
    await handOver(moved.trim(), user);
    return describe(moved.trim());
  }
  const obstacle = await findObstacle(asked, user);
  if (obstacle === undefined) {
    await handOver(asked, user);
    return describe(asked);
  }
  return describe(await moveElsewhere(asked, obstacle, user, log));
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The data folder ${folder} cannot be made.`,
      'Choose a folder that this account can write.',
      { cause: error },
    );
  }
}

async function findObstacle(folder: string, user: ServerUser): Promise<string | undefined> {
  const parent = path.dirname(folder);
  const closed = await findClosedFolder(parent, user);
  if (closed !== undefined) return `the account that runs Postgres cannot enter ${closed}`;
  if (process.platform === 'win32') return undefined;
  await chmod(folder, 0o700).catch((error: unknown) => {
    throw new EmbeddedPostgresError(
      `The data folder ${folder} belongs to another account.`,
      'Start as the account that made it, or choose another data folder.',
      { cause: error },
    );
  });
  const { mode } = await stat(folder);
  return (mode & 0o077) === 0 ? undefined : `${folder} is on a file system without permissions`;
}

async function moveElsewhere(
  asked: string,
  obstacle: string,
  user: ServerUser,
  log: NoticeLog,
): Promise<string> {
  const root = await findFallbackRoot(user);
  if (root === undefined) {
    throw new EmbeddedPostgresError(
      `Postgres cannot keep its data in ${asked}: ${obstacle}.`,
      'Choose a data folder outside of it, or run as an ordinary user.',
    );
  }
  // The random part lets somebody delete the folder they know and begin with an empty database.
  const name = createHash('sha256').update(asked).digest('hex').slice(0, 12);
  const folder = path.join(root, `${name}-${randomBytes(3).toString('hex')}`);
  await mkdir(folder, { mode: 0o700 });
  await handOver(folder, user);
  await writeFile(path.join(asked, POINTER_FILE), `${folder}\n`);
  log.warn(
    `Postgres keeps its data in ${folder}, not in ${asked}, because ${obstacle}. When you delete one, delete both.`,
  );
  return folder;
}

async function handOver(folder: string, user: ServerUser): Promise<void> {
  if (process.platform !== 'win32') await chmod(folder, 0o700);
  if (user.switchTo !== undefined) await chown(folder, user.switchTo.uid, user.switchTo.gid);
}

function describe(root: string): DataFolder {
  return {
    root,
    cluster: path.join(root, 'cluster'),
    passwordFile: path.join(root, 'password'),
    portFile: path.join(root, 'port'),
    ownerFile: path.join(root, 'owner'),
    lockFile: path.join(root, 'starting'),
    startLog: path.join(root, 'start.log'),
  };
}
