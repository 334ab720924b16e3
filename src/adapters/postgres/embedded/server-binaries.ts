import { chmod, cp, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

import type { NoticeLog } from '../notice-log';

import { EmbeddedPostgresError } from './embedded-postgres-error';
import { findFallbackRoot } from './fallback-roots';
import { findClosedFolder } from './server-user';
import type { ServerUser } from './server-user';

const EXECUTABLE_MODE = 0o555;
const SUPPORTED_PLATFORMS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['arm64', 'x64'],
  linux: ['arm', 'arm64', 'ia32', 'ppc64', 'x64'],
  win32: ['x64'],
};

export interface ServerBinaries {
  readonly initdb: string;
  readonly pgCtl: string;
}

/**
 * Finds the server's programs in the npm package of this platform and makes them runnable.
 *
 * npm 11 skips install scripts, so the library symlinks that the package makes after installation
 * may be missing: they are made here. Root may have cloned the project below a closed folder
 * (`/root` usually is); then the programs are copied, once per version, to where the server's
 * account can read them. Throws `EmbeddedPostgresError`.
 */
export async function prepareServerBinaries(
  user: ServerUser,
  log: NoticeLog,
): Promise<ServerBinaries> {
  const packaged = locateNativeFolder();
  await restoreLibraryLinks(packaged);
  await restoreExecutableBits(packaged);
  const closed = await findClosedFolder(packaged, user);
  const native = closed === undefined ? packaged : await copyNativeFolder(packaged, user, log);
  return { initdb: programPath(native, 'initdb'), pgCtl: programPath(native, 'pg_ctl') };
}

function programPath(native: string, program: string): string {
  return path.join(native, 'bin', process.platform === 'win32' ? `${program}.exe` : program);
}

function locateNativeFolder(): string {
  const { platform, arch } = process;
  const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`;
  if (SUPPORTED_PLATFORMS[platform]?.includes(arch) !== true) {
    throw new EmbeddedPostgresError(
      `There is no embedded Postgres for ${platform} on ${arch}.`,
      'Install Postgres 15 or later yourself and set AIVEDIO_DATABASE_URL.',
    );
  }
  try {
    const besideEmbeddedPostgres = createRequire(require.resolve('embedded-postgres'));
    return path.resolve(path.dirname(besideEmbeddedPostgres.resolve(name)), '..', 'native');
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The package ${name} is not installed.`,
      'Run `npm ci` on this machine without --omit=optional, or set AIVEDIO_DATABASE_URL to a server of your own.',
      { cause: error },
    );
  }
}

/** The shape of the package's native/pg-symlinks.json; paths start with `native/`. */
type LibraryLink = { readonly source: string; readonly target: string };

async function restoreLibraryLinks(native: string): Promise<void> {
  const listing = await readFile(path.join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(listing) as LibraryLink[];
  for (const link of links) {
    const target = path.resolve(native, '..', link.target);
    const source = path.resolve(native, '..', link.source);
    if (await stat(target).catch(() => undefined)) continue;
    await rm(target, { force: true }).catch((error: unknown) => refuseReadOnly(native, error));
    await symlink(path.relative(path.dirname(target), source), target).catch((error: unknown) => {
      // Another process may be starting at the same moment and have made it first.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') refuseReadOnly(native, error);
    });
  }
}

async function restoreExecutableBits(native: string): Promise<void> {
  if (process.platform === 'win32') return;
  for (const program of ['initdb', 'pg_ctl', 'postgres']) {
    const file = programPath(native, program);
    const { mode } = await stat(file);
    if ((mode & EXECUTABLE_MODE) === EXECUTABLE_MODE) continue;
    await chmod(file, mode | EXECUTABLE_MODE).catch((error: unknown) =>
      refuseReadOnly(native, error),
    );
  }
}

function refuseReadOnly(native: string, error: unknown): never {
  throw new EmbeddedPostgresError(
    `The Postgres programs in ${native} are incomplete and the folder cannot be written.`,
    'Run `npm rebuild` once as the owner of node_modules, then start again.',
    { cause: error },
  );
}

async function copyNativeFolder(
  packaged: string,
  user: ServerUser,
  log: NoticeLog,
): Promise<string> {
  const manifest = await readFile(path.resolve(packaged, '..', 'package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  const root = await findFallbackRoot(user);
  if (root === undefined) {
    throw new EmbeddedPostgresError(
      `The account that runs Postgres cannot enter ${packaged}.`,
      'Move the project out of the closed folder, or run as an ordinary user.',
    );
  }
  const copy = path.join(root, `postgres-${version}-${process.arch}`);
  if (await stat(programPath(copy, 'postgres')).catch(() => undefined)) return copy;
  const draft = `${copy}.${String(process.pid)}`;
  await cp(packaged, draft, { recursive: true, verbatimSymlinks: true });
  await chmod(draft, 0o755);
  await rename(draft, copy).catch(() => rm(draft, { recursive: true, force: true }));
  log.info(
    `The account that runs Postgres cannot enter the project's folder, so its programs were copied to ${copy}.`,
  );
  return copy;
}
