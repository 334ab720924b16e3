import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';

import type { Flow } from '../flow-harness';

/** As other software with the keys of the store does: whatever stands there goes, and these bytes come. */
export const placeForeign = async (flow: Flow, key: string, bytes: Buffer): Promise<void> => {
  const { store } = flow.objectServer;
  await store.delete(key);
  await store.putStream(key, Readable.from([bytes]), {
    contentType: 'video/mp4',
    sizeBytesMax: bytes.length,
  });
};

/** The bytes change under an object, and what is noted beside them stays: nothing that asks the store sees it. */
export const forgeBytes = async (
  flow: Flow,
  key: string,
  change: (bytes: Buffer) => Buffer,
): Promise<string> => {
  const { store } = flow.objectServer;
  const head = await store.head(key);
  if (head === null) throw new Error(`nothing stands at ${key}`);
  const file = path.join(store.options.root, 'objects', `${key}~o`, head.sha256);
  const forged = change(await readFile(file));
  await writeFile(file, forged);
  return createHash('sha256').update(forged).digest('hex');
};
