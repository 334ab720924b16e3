import { chmod, mkdir } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';

import { findClosedFolder } from './server-user';
import type { ServerUser } from './server-user';

/**
 * The best folder that can be written and entered by the server's account, made when missing; or
 * undefined. It is used when the folder that was asked for cannot be.
 */
export async function findFallbackRoot(user: ServerUser): Promise<string | undefined> {
  const isRoot = user.switchTo !== undefined;
  const candidates = [
    isRoot ? '/var/lib/aivedio' : path.join(homedir(), '.local', 'share', 'aivedio'),
    path.join(tmpdir(), 'aivedio'),
  ];
  for (const candidate of candidates) {
    if (await isUsable(candidate, user)) return candidate;
  }
  return undefined;
}

async function isUsable(candidate: string, user: ServerUser): Promise<boolean> {
  try {
    const created = await mkdir(candidate, { recursive: true });
    // Root's umask may be 077; only a folder made just now is ours to open.
    if (created !== undefined) await chmod(candidate, 0o755);
    return (await findClosedFolder(candidate, user)) === undefined;
  } catch {
    return false;
  }
}
