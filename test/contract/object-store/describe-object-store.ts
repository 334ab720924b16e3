import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  InvalidObjectKeyError,
  ObjectMismatchError,
  ObjectTooLargeError,
  type ListedObject,
  type ObjectStore,
} from '../../../src/ports/object-store';
import { eventually } from '../../support/eventually';
import { describePartUploads } from './describe-part-uploads';

export interface ObjectStoreUnderTest {
  readonly store: ObjectStore;
  /** Everything the store holds, temporary files and unfinished uploads included. */
  readonly countLeftovers: () => Promise<number>;
  readonly close: () => Promise<void>;
}

/** What the port leaves to the store. */
export interface StoreHabits {
  /** HEAD of a URL signed for GET is answered. */
  readonly signedHead: boolean;
  /** A refused range tells the size of the object. */
  readonly sizeOn416: boolean;
  /** An object may stand at `a` and another at `a/b`; a store on plain files cannot. The product makes no such keys. */
  readonly keysBelowKeys: boolean;
}

jest.setTimeout(60_000);

const HOUR_MS = 3_600_000;
const TYPE = 'video/mp4';
/** More than two parts where a store takes parts. */
const LARGE_BYTES = 17 * 2 ** 20 + 3;

/** The contract of the port, for every adapter. URLs are judged against the real time. */
export function describeObjectStore(
  name: string,
  setUp: () => Promise<ObjectStoreUnderTest>,
  habits: StoreHabits,
  setUpTimeoutMs = 60_000,
): void {
  describe(`object store: ${name}`, () => {
    let under: ObjectStoreUnderTest;
    let store: ObjectStore;

    beforeAll(async () => {
      under = await setUp();
      store = under.store;
    }, setUpTimeoutMs);
    afterAll(() => under.close());

    const freshKey = (): string => `t/${randomBytes(8).toString('hex')}/clip.mp4`;
    const put = (key: string, bytes: Buffer): ReturnType<ObjectStore['putStream']> =>
      store.putStream(key, Readable.from(chunked(bytes)), {
        contentType: TYPE,
        sizeBytesMax: bytes.length,
      });

    describe('putStream', () => {
      it('keeps the bytes with their size, digest and type', async () => {
        const key = freshKey();
        const bytes = randomBytes(300_000);
        expect(await put(key, bytes)).toEqual({
          sizeBytes: bytes.length,
          sha256: sha256(bytes),
          outcome: 'created',
        });
        const found = await store.getStream(key);
        expect(found?.head).toMatchObject({
          key,
          sizeBytes: bytes.length,
          sha256: sha256(bytes),
          contentType: TYPE,
        });
        expect(await buffer(found?.body ?? Readable.from([]))).toEqual(bytes);
        expect(await store.head(key)).toEqual(found?.head);
      });

      it('answers reused for equal bytes and conflict for others, and keeps the first', async () => {
        const key = freshKey();
        const first = randomBytes(1000);
        const second = randomBytes(1000);
        await put(key, first);
        expect((await put(key, first)).outcome).toBe('reused');
        expect(await put(key, second)).toEqual({
          sizeBytes: 1000,
          sha256: sha256(second),
          outcome: 'conflict',
          standing: { sizeBytes: 1000, sha256: sha256(first) },
        });
        expect(await read(store, key)).toEqual(first);
      });

      it.each([1_000, LARGE_BYTES])(
        'tells what %d bytes are before any of them stands at the key, and writes nothing when that fails',
        async (sizeBytes) => {
          const key = freshKey();
          const bytes = randomBytes(sizeBytes);
          const before = await under.countLeftovers();
          const told: unknown[] = [];
          const write = (fails: boolean): ReturnType<ObjectStore['putStream']> =>
            store.putStream(key, Readable.from(chunked(bytes)), {
              contentType: TYPE,
              sizeBytesMax: sizeBytes,
              onReceived: async (received) => {
                told.push(received, await store.head(key));
                // By its code it could be the store's own.
                if (fails) throw Object.assign(new Error('not noted'), { code: 'ECONNRESET' });
              },
            });
          await expect(write(true)).rejects.toThrow('not noted');
          expect(told.splice(0)).toEqual([{ sizeBytes, sha256: sha256(bytes) }, null]);
          expect(await store.head(key)).toBeNull();
          expect(await under.countLeftovers()).toBe(before);
          expect((await write(false)).outcome).toBe('created');
          expect(told.splice(0)).toEqual([{ sizeBytes, sha256: sha256(bytes) }, null]);
        },
      );

      it('tells of no stream that is not the expected one', async () => {
        const onReceived = jest.fn(() => Promise.resolve());
        const write = store.putStream(freshKey(), Readable.from([randomBytes(10)]), {
          contentType: TYPE,
          sizeBytesMax: 10,
          expected: { sizeBytes: 11 },
          onReceived,
        });
        await expect(write).rejects.toBeInstanceOf(ObjectMismatchError);
        expect(onReceived).not.toHaveBeenCalled();
      });

      it('lets exactly one of many different writers win a key', async () => {
        const key = freshKey();
        const bodies = Array.from({ length: 8 }, () => randomBytes(20_000));
        const results = await Promise.all(bodies.map((bytes) => put(key, bytes)));
        const winners = results.flatMap((result, index) =>
          result.outcome === 'created' ? [bodies[index]] : [],
        );
        expect(winners).toHaveLength(1);
        expect(await read(store, key)).toEqual(winners[0]);
        expect(results.filter((result) => result.outcome === 'conflict')).toHaveLength(7);
      });

      it('shows a reader the whole object or none while it is written', async () => {
        const key = freshKey();
        const bytes = randomBytes(200_000);
        async function* slowly(): AsyncGenerator<Buffer> {
          for (const chunk of chunked(bytes)) {
            expect(await store.head(key)).toBeNull();
            yield chunk;
          }
        }
        await store.putStream(key, Readable.from(slowly()), {
          contentType: TYPE,
          sizeBytesMax: bytes.length,
        });
        expect(await read(store, key)).toEqual(bytes);
      });

      it('keeps an object of several parts, again as the same, and refuses another', async () => {
        const key = freshKey();
        const bytes = randomBytes(LARGE_BYTES);
        const before = await under.countLeftovers();
        for (const outcome of ['created', 'reused']) {
          expect(await put(key, bytes)).toEqual({
            ...{ sizeBytes: bytes.length, sha256: sha256(bytes), outcome },
          });
          expect(await store.head(key)).toMatchObject({ sha256: sha256(bytes), contentType: TYPE });
        }
        const other = Buffer.from(bytes);
        other[LARGE_BYTES - 1] = (other[LARGE_BYTES - 1] ?? 0) ^ 1;
        expect((await put(key, other)).outcome).toBe('conflict');
        expect(sha256((await read(store, key)) ?? Buffer.alloc(0))).toBe(sha256(bytes));
        const copied = freshKey();
        expect((await store.copy(key, copied)).outcome).toBe('created');
        expect((await store.head(copied))?.sha256).toBe(sha256(bytes));
        await store.delete(key);
        expect(await under.countLeftovers()).toBe(before);
      });

      it('lets exactly one of several large writers win, whoever ends first', async () => {
        const key = freshKey();
        const bodies = [1, 2, 3].map((each) => Buffer.alloc(LARGE_BYTES, each));
        const results = await Promise.all(bodies.map((bytes) => put(key, bytes)));
        const outcomes = results.map(({ outcome }) => outcome);
        expect([...outcomes].sort()).toEqual(['conflict', 'conflict', 'created']);
        const winner = bodies[outcomes.indexOf('created')] ?? Buffer.alloc(0);
        expect((await store.head(key))?.sha256).toBe(sha256(winner));
        expect(sha256((await read(store, key)) ?? Buffer.alloc(0))).toBe(sha256(winner));
      });

      it('leaves nothing of many parts whose digest is not the expected one', async () => {
        const key = freshKey();
        const before = await under.countLeftovers();
        const write = store.putStream(key, Readable.from(chunked(randomBytes(LARGE_BYTES))), {
          contentType: TYPE,
          sizeBytesMax: LARGE_BYTES,
          expected: { sha256: 'ab'.repeat(32) },
        });
        await expect(write).rejects.toBeInstanceOf(ObjectMismatchError);
        expect(await store.head(key)).toBeNull();
        expect(await under.countLeftovers()).toBe(before);
      });

      it.each([
        ['size', { sizeBytes: 999 }],
        ['digest', { sha256: 'ab'.repeat(32) }],
      ])('refuses a stream of another %s than expected and leaves nothing', async (_, expected) => {
        const key = freshKey();
        const before = await under.countLeftovers();
        const write = store.putStream(key, Readable.from(chunked(randomBytes(1000))), {
          contentType: TYPE,
          sizeBytesMax: 5000,
          expected,
        });
        await expect(write).rejects.toBeInstanceOf(ObjectMismatchError);
        expect(await store.head(key)).toBeNull();
        expect(await under.countLeftovers()).toBe(before);
      });

      it('stops reading a stream that is longer than allowed', async () => {
        const key = freshKey();
        const before = await under.countLeftovers();
        let produced = 0;
        function* endless(): Generator<Buffer> {
          for (;;) {
            produced += 65_536;
            yield Buffer.alloc(65_536);
          }
        }
        const write = store.putStream(key, Readable.from(endless()), {
          contentType: TYPE,
          sizeBytesMax: 1_000_000,
        });
        await expect(write).rejects.toBeInstanceOf(ObjectTooLargeError);
        expect(produced).toBeLessThan(8_000_000);
        expect(await store.head(key)).toBeNull();
        expect(await under.countLeftovers()).toBe(before);
      });

      it('leaves nothing of a stream that fails half-way, and passes its error on', async () => {
        const key = freshKey();
        const before = await under.countLeftovers();
        async function* cut(): AsyncGenerator<Buffer> {
          yield randomBytes(70_000);
          throw new Error('the line was cut');
        }
        const write = store.putStream(key, Readable.from(cut()), {
          contentType: TYPE,
          sizeBytesMax: 200_000,
        });
        await expect(write).rejects.toThrow('the line was cut');
        expect(await store.head(key)).toBeNull();
        expect(await under.countLeftovers()).toBe(before);
      });

      it('ends at once when it is aborted', async () => {
        const key = freshKey();
        const before = await under.countLeftovers();
        const controller = new AbortController();
        const body = new Readable({ read: () => undefined });
        body.push(randomBytes(10_000));
        const write = store.putStream(key, body, {
          contentType: TYPE,
          sizeBytesMax: 100_000,
          signal: controller.signal,
        });
        controller.abort();
        await expect(write).rejects.toThrow();
        expect(await store.head(key)).toBeNull();
        expect(await under.countLeftovers()).toBe(before);
      });

      it('accepts an object without bytes', async () => {
        const key = freshKey();
        await put(key, Buffer.alloc(0));
        expect(await read(store, key)).toEqual(Buffer.alloc(0));
      });

      it.each(['', '/a', 'a/', 'a//b', 'a/../b', './a', 'a b', 'ä', 'a\\b', 'a%2fb', 'a~o', 'a\0'])(
        'refuses the key %j',
        async (key) => {
          await expect(put(key, randomBytes(10))).rejects.toBeInstanceOf(InvalidObjectKeyError);
          await expect(store.head(key)).rejects.toBeInstanceOf(InvalidObjectKeyError);
        },
      );
    });

    describe('getStream', () => {
      it('reads an inclusive range', async () => {
        const key = freshKey();
        const bytes = randomBytes(100_000);
        await put(key, bytes);
        const found = await store.getStream(key, { start: 10, end: 70_000 });
        expect(await buffer(found?.body ?? Readable.from([]))).toEqual(bytes.subarray(10, 70_001));
        expect(found?.head.sizeBytes).toBe(bytes.length);
      });

      it('answers null for a missing key', async () => {
        expect(await store.getStream(freshKey())).toBeNull();
      });
    });

    describe('copy, delete, list', () => {
      it('copies with the outcomes of putStream', async () => {
        const [from, to, other] = [freshKey(), freshKey(), freshKey()];
        const bytes = randomBytes(5000);
        await put(from, bytes);
        await put(other, randomBytes(5000));
        expect((await store.copy(from, to)).outcome).toBe('created');
        expect((await store.copy(from, to)).outcome).toBe('reused');
        expect((await store.copy(other, to)).outcome).toBe('conflict');
        expect(await read(store, to)).toEqual(bytes);
        expect(await store.head(to)).toMatchObject({ sha256: sha256(bytes), contentType: TYPE });
      });

      it('deletes, and has nothing against deleting again', async () => {
        const key = freshKey();
        await put(key, randomBytes(10));
        await store.delete(key);
        await store.delete(key);
        expect(await store.head(key)).toBeNull();
        expect((await put(key, randomBytes(20))).outcome).toBe('created');
      });

      it('lists in ascending order under a prefix, of a key and of keys below it too', async () => {
        const base = `t/${randomBytes(8).toString('hex')}`;
        const names = ['a-b', 'a.b', 'a/0', 'a/b/c', 'a0', 'b/x', 'B'];
        if (habits.keysBelowKeys) names.push('a');
        names.sort();
        for (const name of [...names].reverse()) await put(`${base}/${name}`, Buffer.from(name));
        await put(`${base}x`, Buffer.from('beside'));
        expect(await listKeys(store, `${base}/`)).toEqual(names.map((name) => `${base}/${name}`));
        expect(await listKeys(store, `${base}/a/`)).toEqual([`${base}/a/0`, `${base}/a/b/c`]);
        expect(await listKeys(store, `${base}/a`)).toHaveLength(names.length - 2);
        expect(await listKeys(store, `${base}/none`)).toEqual([]);
      });

      it('lists what comes after a key, also one that is not there, and no more than asked for', async () => {
        const base = `t/${randomBytes(8).toString('hex')}`;
        const names = ['a-b', 'a/0', 'a/b/c', 'a0', 'b/x/1', 'b/x/2'];
        if (habits.keysBelowKeys) names.push('a');
        names.sort();
        for (const name of names) await put(`${base}/${name}`, Buffer.from(name));
        const keys = names.map((name) => `${base}/${name}`);
        for (const start of [...keys, `${base}/a/`, `${base}/a/b`, `${base}/b`, `${base}/b/x/10`]) {
          expect(await listKeys(store, `${base}/`, { startAfter: start })).toEqual(
            keys.filter((key) => key > start),
          );
        }
        const paged: string[] = [];
        for (let page = [''], left = 10; page.length > 0 && left > 0; left -= 1) {
          page = await listKeys(store, `${base}/`, { startAfter: paged.at(-1) ?? '', limit: 2 });
          expect(page.length).toBeLessThanOrEqual(2);
          paged.push(...page);
        }
        expect(paged).toEqual(keys);
        expect(await listKeys(store, `${base}/`, { limit: 0 })).toEqual([]);
      });

      it('deletes what nobody has put since a time, and only that', async () => {
        const key = freshKey();
        const bytes = randomBytes(10);
        await put(key, bytes);
        const written = (await store.head(key))?.modifiedAt ?? new Date(0);
        expect(await store.deleteIfOlder(key, written)).toBe(false);
        expect(await read(store, key)).toEqual(bytes);
        expect(await store.deleteIfOlder(key, new Date(written.getTime() + 1))).toBe(true);
        expect(await store.head(key)).toBeNull();
        expect(await store.deleteIfOlder(key, new Date(Date.now() + HOUR_MS))).toBe(false);
      });

      it('takes an equal put as a sign of life, of a stream and of a copy', async () => {
        const [from, key] = [freshKey(), freshKey()];
        const bytes = randomBytes(10);
        await put(from, bytes);
        await put(key, bytes);
        for (const again of [() => put(key, bytes), () => store.copy(from, key)]) {
          const before = await laterThan(Date.now());
          expect((await again()).outcome).toBe('reused');
          expect(await store.deleteIfOlder(key, before)).toBe(false);
        }
        expect(await read(store, key)).toEqual(bytes);
      });

      it('never loses a put to a deletion of the old that runs at the same time', async () => {
        for (let round = 0; round < 40; round += 1) {
          const key = freshKey();
          const bytes = randomBytes(10);
          await put(key, bytes);
          const before = await laterThan(Date.now());
          const [written] = await Promise.all([
            put(key, bytes),
            ...[1, 2, 3].map(() => store.deleteIfOlder(key, before)),
          ]);
          expect(['created', 'reused']).toContain(written.outcome);
          expect(await read(store, key)).toEqual(bytes);
        }
      });

      it('survives a writer and a deleter of the same folder', async () => {
        const base = `t/${randomBytes(8).toString('hex')}/deep/folder`;
        await Promise.all(
          Array.from({ length: 20 }, async (_, index) => {
            await put(`${base}/${index}`, Buffer.from([index]));
            await store.delete(`${base}/${index}`);
          }),
        );
        expect(await listKeys(store, `${base}/`)).toEqual([]);
      });
    });

    describe('presigned PUT', () => {
      const ticketFor = (
        key: string,
        bytes: Buffer,
        now = new Date(),
      ): ReturnType<ObjectStore['presignPut']> =>
        store.presignPut(key, {
          sizeBytes: bytes.length,
          sha256: sha256(bytes),
          contentType: TYPE,
          now,
          expiresAt: new Date(now.getTime() + HOUR_MS),
        });

      it('takes the signed bytes, and again as the same object', async () => {
        const key = freshKey();
        const bytes = randomBytes(100_000);
        const ticket = await ticketFor(key, bytes);
        expect((await send(ticket, bytes)).status).toBe(200);
        expect((await send(ticket, bytes)).status).toBe(200);
        expect(await store.head(key)).toMatchObject({ sha256: sha256(bytes), contentType: TYPE });
      });

      it('refuses other bytes of the same length, before and after the object is there', async () => {
        const key = freshKey();
        const bytes = randomBytes(5000);
        const ticket = await ticketFor(key, bytes);
        expect((await send(ticket, randomBytes(5000))).status).toBe(400);
        expect(await store.head(key)).toBeNull();
        await send(ticket, bytes);
        expect((await send(ticket, randomBytes(5000))).status).toBe(400);
        expect(await read(store, key)).toEqual(bytes);
      });

      it.each([
        ['shorter', 4999],
        ['longer', 5001],
        ['empty', 0],
      ])('refuses a %s body', async (_, length) => {
        const key = freshKey();
        const ticket = await ticketFor(key, randomBytes(5000));
        const { status } = await send(ticket, randomBytes(length));
        expect([400, 403, 413]).toContain(status);
        expect(await store.head(key)).toBeNull();
      });

      it('refuses another type, another key and another method', async () => {
        const key = freshKey();
        const bytes = randomBytes(50);
        const ticket = await ticketFor(key, bytes);
        const otherType = {
          ...ticket,
          headers: { ...ticket.headers, 'content-type': 'text/html' },
        };
        expect((await send(otherType, bytes)).status).toBe(403);
        const otherKey = { ...ticket, url: ticket.url.replace('clip.mp4', 'clip2.mp4') };
        expect((await send(otherKey, bytes)).status).toBe(403);
        expect((await fetch(ticket.url)).status).toBe(403);
        expect(await store.head(key)).toBeNull();
      });

      it('refuses after its end', async () => {
        const key = freshKey();
        const bytes = randomBytes(50);
        const ticket = await ticketFor(key, bytes, new Date(Date.now() - 2 * HOUR_MS));
        expect((await send(ticket, bytes)).status).toBe(403);
        expect(await store.head(key)).toBeNull();
      });
    });

    describePartUploads(() => under);

    describe('presigned GET', () => {
      const bytes = randomBytes(10_000);
      const now = new Date();
      const life = { now, expiresAt: new Date(now.getTime() + HOUR_MS) };
      let key: string;
      beforeAll(async () => {
        key = freshKey();
        await put(key, bytes);
      });

      it('serves GET with type, length and ETag, and HEAD where the store can', async () => {
        const url = await store.presignGet(key, life);
        const got = await fetch(url);
        expect(got.status).toBe(200);
        expect(got.headers.get('content-type')).toBe(TYPE);
        expect(got.headers.get('etag')).toMatch(/^".+"$/);
        expect(got.headers.get('accept-ranges')).toBe('bytes');
        expect(Buffer.from(await got.arrayBuffer())).toEqual(bytes);
        const head = await fetch(url, { method: 'HEAD' });
        expect(head.status).toBe(habits.signedHead ? 200 : 403);
        if (habits.signedHead) expect(head.headers.get('content-length')).toBe('10000');
      });

      it.each([
        ['bytes=0-99', 0, 99],
        ['bytes=9000-', 9000, 9999],
        ['bytes=-10', 9990, 9999],
        ['bytes=9990-20000', 9990, 9999],
      ])('serves the range %s', async (range, start, end) => {
        const url = await store.presignGet(key, life);
        const got = await fetch(url, { headers: { range } });
        expect(got.status).toBe(206);
        expect(got.headers.get('content-range')).toBe(`bytes ${start}-${end}/10000`);
        expect(Buffer.from(await got.arrayBuffer())).toEqual(bytes.subarray(start, end + 1));
      });

      it('answers 416 beyond the end', async () => {
        const url = await store.presignGet(key, life);
        const got = await fetch(url, { headers: { range: 'bytes=10000-' } });
        expect(got.status).toBe(416);
        expect(got.headers.get('content-range')).toBe(habits.sizeOn416 ? 'bytes */10000' : null);
      });

      it('names the download when asked', async () => {
        const url = await store.presignGet(key, { ...life, downloadName: 'Grüße "1".mp4' });
        const { headers } = await fetch(url);
        expect(headers.get('content-disposition')).toContain("filename*=UTF-8''Gr%C3%BC%C3%9Fe");
      });

      it('refuses an altered, an expired and a foreign URL', async () => {
        const url = await store.presignGet(key, life);
        expect((await fetch(url.replace('clip.mp4', 'clip3.mp4'))).status).toBe(403);
        const past = new Date(now.getTime() - 2 * HOUR_MS);
        const expired = await store.presignGet(key, {
          now: past,
          expiresAt: new Date(now.getTime() - HOUR_MS),
        });
        expect((await fetch(expired)).status).toBe(403);
        const put = await fetch(url, { method: 'PUT', body: bytes });
        expect(put.status).toBe(403);
      });

      it('answers 404 for a missing object', async () => {
        expect((await fetch(await store.presignGet(freshKey(), life))).status).toBe(404);
      });
    });

    describe('presigned prefix', () => {
      it('serves every object under the prefix by its suffix, and none beside it', async () => {
        const base = `t/${randomBytes(8).toString('hex')}`;
        await put(`${base}/hls/master.m3u8`, Buffer.from('master'));
        await put(`${base}/hls/high/1.ts`, Buffer.from('segment'));
        await put(`${base}/secret`, Buffer.from('secret'));
        await put(`${base}/hls2/1.ts`, Buffer.from('beside'));
        const now = new Date();
        const url = await store.presignGetPrefix(`${base}/hls/`, {
          now,
          expiresAt: new Date(now.getTime() + HOUR_MS),
        });
        expect(url.endsWith('/')).toBe(true);
        expect(await (await fetch(`${url}master.m3u8`)).text()).toBe('master');
        expect(await (await fetch(`${url}high/1.ts`)).text()).toBe('segment');
        const ranged = await fetch(`${url}high/1.ts`, { headers: { range: 'bytes=0-2' } });
        expect([ranged.status, await ranged.text()]).toEqual([206, 'seg']);
        for (const suffix of [
          '../secret',
          '%2e%2e/secret',
          '..%2fsecret',
          '../hls2/1.ts',
          'none',
        ]) {
          expect((await fetch(`${url}${suffix}`)).ok).toBe(false);
        }
      });

      it('refuses after its end', async () => {
        const base = `t/${randomBytes(8).toString('hex')}`;
        await put(`${base}/a`, Buffer.from('a'));
        const url = await store.presignGetPrefix(`${base}/`, {
          now: new Date(Date.now() - 2 * HOUR_MS),
          expiresAt: new Date(Date.now() - HOUR_MS),
        });
        expect((await fetch(`${url}a`)).status).toBe(403);
      });
    });
  });
}

function* chunked(bytes: Buffer): Generator<Buffer> {
  for (let offset = 0; offset < bytes.length; offset += 16_384) {
    yield bytes.subarray(offset, offset + 16_384);
  }
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function read(store: ObjectStore, key: string): Promise<Buffer | null> {
  const found = await store.getStream(key);
  return found === null ? null : buffer(found.body);
}

/** A time of the clock that has passed `ms` by now. */
async function laterThan(ms: number): Promise<Date> {
  return eventually('the next millisecond', () => {
    const now = Date.now();
    return Promise.resolve(now > ms ? new Date(now) : undefined);
  });
}

async function listKeys(
  store: ObjectStore,
  prefix: string,
  options?: Parameters<ObjectStore['list']>[1],
): Promise<string[]> {
  const heads: ListedObject[] = [];
  for await (const head of store.list(prefix, options)) heads.push(head);
  return heads.map((head) => head.key);
}

function send(
  ticket: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  bytes: Buffer,
): Promise<Response> {
  return fetch(ticket.url, { method: 'PUT', headers: ticket.headers, body: bytes });
}
