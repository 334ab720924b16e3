import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import { INSTANT_FACTS, instantProxy } from '../bench/instant-clip';
import type { MediaToolkit } from '../src/ports/media-toolkit';
import type { ObjectStore } from '../src/ports/object-store';
import type { Scratch } from '../src/ports/scratch';
import type { Container } from '../src/runtime/container';

/** One output in so many is made playable by the real tools; which one hangs on its key, so that a repeat chooses the same. */
export const REAL_MEDIA_ONE_IN = 30;

/** Real files, real object store, real scratch space; for most outputs the clip itself is the proxy, and nothing else is made. */
export const withMostlyInstantMedia = (container: Container): Container => {
  const work = new AsyncLocalStorage<{ key: string | null }>();
  const isReal = (): boolean => {
    const key = work.getStore()?.key ?? '';
    return createHash('sha256').update(key).digest().readUInt32BE(0) % REAL_MEDIA_ONE_IN === 0;
  };
  const getStream: ObjectStore['getStream'] = (key, range) => {
    const current = work.getStore();
    if (current !== undefined) current.key = key;
    return container.objects.getStream(key, range);
  };
  return {
    ...container,
    objects: Object.assign(Object.create(container.objects) as Container['objects'], { getStream }),
    media: async () => {
      const real = await container.media();
      const scratch: Scratch = {
        use: (task) => work.run({ key: null }, () => real.scratch.use(task)),
      };
      return { ...real, scratch, toolkit: choose(real.toolkit, isReal) };
    },
  };
};

const choose = (real: MediaToolkit, isReal: () => boolean): MediaToolkit => ({
  probe: (file, limits) =>
    isReal() ? real.probe(file, limits) : Promise.resolve({ ok: true, facts: INSTANT_FACTS }),
  derive: async (kind, input, outputDir, options) => {
    if (isReal()) return real.derive(kind, input, outputDir, options);
    if (kind !== 'PROXY') return null;
    const file = path.join(outputDir, 'proxy.mp4');
    await mkdir(outputDir, { recursive: true });
    await copyFile(input.path, file);
    const bytes = await readFile(file);
    return instantProxy({
      path: file,
      sizeBytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    });
  },
});
