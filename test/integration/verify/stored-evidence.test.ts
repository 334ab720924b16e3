import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';

import { createSystemClock } from '../../../src/adapters/clock/system-clock';
import { createDiskObjectStore } from '../../../src/adapters/object-store/disk/disk-object-store';
import {
  storedEvidence,
  type BytesRead,
} from '../../../src/adapters/object-store/disk/stored-evidence';
import type { Evidence } from '../../../src/ports/verification';

const BYTES = Buffer.from('sixteen bytes ok');
const SHA256 = createHash('sha256').update(BYTES).digest('hex');

let root: string;

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'aivedio-evidence-'));
  const store = createDiskObjectStore({
    ...{ root, publicBaseUrl: 'http://127.0.0.1/objects', signingKey: Buffer.alloc(32) },
    clock: createSystemClock(0),
  });
  for (const key of ['a/raw', 'b/raw']) {
    await store.putStream(key, Readable.from([BYTES]), {
      ...{ contentType: 'video/mp4', sizeBytesMax: 100 },
    });
  }
});

afterEach(() => rm(root, { recursive: true, force: true }));

const fileOf = async (key: string): Promise<string> => {
  const names = await readdir(path.join(root, 'objects'), { recursive: true });
  const name = names.find((each) => each.startsWith(`${key}~o/`) && each.endsWith(SHA256));
  if (name === undefined) throw new Error(`${key} is not stored`);
  return path.join(root, 'objects', name);
};

const look = async (onBytes: ((read: BytesRead) => void) | null) => {
  const seen: Pick<Evidence, 'kind' | 'reference' | 'amount' | 'id'>[] = [];
  for await (const { kind, reference, amount, id } of storedEvidence(root, onBytes)) {
    seen.push({ kind, reference, amount, id });
  }
  return seen;
};

describe('what stands in the store', () => {
  it('is the size of the file and the noted checksum, and without a word no byte is read', async () => {
    await truncate(await fileOf('a/raw'), 5);
    expect(await look(null)).toEqual([
      { kind: 'object', reference: 'a/raw', amount: '5', id: SHA256 },
      { kind: 'object', reference: 'b/raw', amount: '16', id: SHA256 },
    ]);
  });

  it('is, when asked for, the checksum of the bytes as they are, and how far that has come', async () => {
    const other = Buffer.from('other 16 bytes!!');
    await writeFile(await fileOf('b/raw'), other);
    const told: BytesRead[] = [];
    const seen = await look((read) => told.push(read));
    expect(seen.filter(({ kind }) => kind === 'bytes')).toEqual([
      { kind: 'bytes', reference: 'a/raw', amount: null, id: SHA256 },
      {
        ...{ kind: 'bytes', reference: 'b/raw', amount: null },
        id: createHash('sha256').update(other).digest('hex'),
      },
    ]);
    expect(told).toEqual([{ objects: 2, bytes: 32 }]);
  });

  it('is nothing where the bytes are gone', async () => {
    await rm(await fileOf('a/raw'));
    expect((await look(() => undefined)).map(({ reference }) => reference)).toEqual([
      'b/raw',
      'b/raw',
    ]);
  });

  it('is told past files and a folder of no key, which are named', async () => {
    const objects = path.join(root, 'objects');
    const strays = ['a/file', 'note.txt', 'raw~o', 'spaced name'].map((each) =>
      path.join(objects, each),
    );
    for (const stray of strays.slice(0, 3)) await writeFile(stray, 'stray');
    await mkdir(path.join(objects, 'spaced name'));
    const told: string[] = [];
    const seen: (string | null)[] = [];
    for await (const { reference } of storedEvidence(root, null, (stray) => told.push(stray))) {
      seen.push(reference);
    }
    expect(seen).toEqual(['a/raw', 'b/raw']);
    expect(told.sort()).toEqual(strays);
  });
});
