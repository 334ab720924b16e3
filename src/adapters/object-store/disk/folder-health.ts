import { constants } from 'node:fs';
import { access, mkdir, statfs } from 'node:fs/promises';

import type { HealthCheck } from '../../../ports/health';

/** Below this a clip may no longer fit. */
const FREE_BYTES_MIN = 512 * 1024 ** 2;

/** Whether the store's folder can be written, and whether there is room. */
export const createFolderHealth =
  (root: string): HealthCheck =>
  async () => {
    await mkdir(root, { recursive: true });
    await access(root, constants.W_OK);
    const { bavail, bsize } = await statfs(root);
    const freeBytes = bavail * bsize;
    const freeMib = Math.floor(freeBytes / 1024 ** 2);
    return freeBytes < FREE_BYTES_MIN
      ? { ok: false, detail: `only ${freeMib} MiB are free below ${root}` }
      : { ok: true, detail: `${freeMib} MiB free` };
  };
