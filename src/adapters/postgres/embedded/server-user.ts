import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

import { EmbeddedPostgresError } from './embedded-postgres-error';

const runFile = promisify(execFile);

/** macOS names its service accounts with an underscore and ships this one. */
const ACCOUNT_NAMES = ['postgres', '_postgres'] as const;

/** Debian, Red Hat and Alpine each have one of these. */
const ACCOUNT_COMMANDS: readonly (readonly [string, readonly string[]])[] = [
  ['useradd', ['--system', '--user-group', '--no-create-home', 'postgres']],
  ['adduser', ['-S', '-D', '-H', 'postgres']],
];

export interface AccountIds {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The account the server runs as. Postgres refuses to run as root, so root hands over to the
 * system account `postgres`; everybody else runs the server as themselves (`switchTo` absent).
 */
export interface ServerUser {
  readonly switchTo?: AccountIds;
}

/** Finds the account, making it when root has none. Throws `EmbeddedPostgresError` if it cannot. */
export async function resolveServerUser(): Promise<ServerUser> {
  if (process.getuid?.() !== 0) return {};
  const existing = await findAccount();
  if (existing !== undefined) return { switchTo: existing };
  const failures: string[] = [];
  for (const [program, argumentList] of ACCOUNT_COMMANDS) {
    try {
      await runFile(program, argumentList);
      const created = await findAccount();
      if (created !== undefined) return { switchTo: created };
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new EmbeddedPostgresError(
    `Postgres refuses to run as root and no account named postgres could be made (${failures.join('; ')}).`,
    'Run as an ordinary user, or create a system account named postgres, or set AIVEDIO_DATABASE_URL to a server of your own.',
  );
}

async function findAccount(): Promise<AccountIds | undefined> {
  for (const name of ACCOUNT_NAMES) {
    try {
      const [uid, gid] = await Promise.all([
        runFile('id', ['-u', name]),
        runFile('id', ['-g', name]),
      ]);
      return { uid: Number(uid.stdout.trim()), gid: Number(gid.stdout.trim()) };
    } catch {
      // `id` fails for an account that does not exist: then the next name is tried.
    }
  }
  return findAccountInPasswd();
}

/** For images without an `id` program. */
async function findAccountInPasswd(): Promise<AccountIds | undefined> {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  for (const line of passwd.split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (ACCOUNT_NAMES.some((known) => known === name)) {
      return { uid: Number(uid), gid: Number(gid) };
    }
  }
  return undefined;
}

/**
 * The first folder on the way down to `target` (itself included) that `user` may not enter, or
 * undefined when the way is open. `target` must exist. Only root needs to ask.
 */
export async function findClosedFolder(
  target: string,
  user: ServerUser,
): Promise<string | undefined> {
  if (user.switchTo === undefined) return undefined;
  for (const folder of foldersDownTo(target)) {
    const facts = await stat(folder);
    if (facts.isDirectory() && !mayEnter(facts, user.switchTo)) return folder;
  }
  return undefined;
}

function foldersDownTo(target: string): string[] {
  const folders: string[] = [];
  for (let folder = path.resolve(target); ; folder = path.dirname(folder)) {
    folders.unshift(folder);
    if (folder === path.dirname(folder)) return folders;
  }
}

function mayEnter(facts: { uid: number; gid: number; mode: number }, ids: AccountIds): boolean {
  if (facts.uid === ids.uid) return (facts.mode & 0o100) !== 0;
  if (facts.gid === ids.gid) return (facts.mode & 0o010) !== 0;
  return (facts.mode & 0o001) !== 0;
}
