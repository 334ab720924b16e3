import { chmod, mkdir } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';

import { findClosedFolder } from './server-user';
import type { ServerUser } from './server-user';

/**
 * Folders, best first, that exist, can be written and can be entered by the server's account.
 * They are used when the folder that was asked for cannot be.
 */
export async function listFallbackRoots(user: ServerUser): Promise<string[]> {
  const isRoot = user.switchTo !== undefined;
  const candidates = isRoot
    ? ['/var/lib/aivedio', path.join(tmpdir(), 'aivedio')]
    : [path.join(homedir(), '.local', 'share', 'aivedio'), path.join(tmpdir(), 'aivedio')];
  const usable: string[] = [];
  for (const candidate of candidates) {
    if (await isUsable(candidate, user)) usable.push(candidate);
  }
  return usable;
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
