import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import type { ObjectStore } from '../../../src/ports/object-store';
import type { NamedPart } from '../../../src/ports/part-uploads';
import type { ObjectStoreUnderTest } from './describe-object-store';

const HOUR_MS = 3_600_000;
const TYPE = 'video/mp4';
const PART_BYTES = 5 * 2 ** 20;
const PAGE = 'https://studio.example';

/** Uploads in parts, a part of the contract of object stores. */
export function describePartUploads(current: () => ObjectStoreUnderTest): void {
  describe('uploads in parts', () => {
    const first = randomBytes(PART_BYTES);
    const last = randomBytes(70_001);
    const whole = Buffer.concat([first, last]);
    let store: ObjectStore;
    beforeAll(() => {
      store = current().store;
    });

    const freshKey = (): string => `t/${randomBytes(8).toString('hex')}/clip.mp4`;
    const ticketFor = (
      key: string,
      uploadId: string,
      number: number,
      bytes: Buffer,
      now = new Date(),
    ): ReturnType<ObjectStore['parts']['presign']> =>
      store.parts.presign(key, uploadId, {
        ...{ number, sizeBytes: bytes.length, now },
        expiresAt: new Date(now.getTime() + HOUR_MS),
      });
    const put = (
      ticket: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
      bytes: Buffer,
    ): Promise<Response> =>
      fetch(ticket.url, {
        ...{ method: 'PUT', body: new Uint8Array(bytes) },
        headers: { ...ticket.headers, origin: PAGE },
      });
    const send = async (
      key: string,
      uploadId: string,
      number: number,
      bytes: Buffer,
    ): Promise<NamedPart> => {
      const answer = await put(await ticketFor(key, uploadId, number, bytes), bytes);
      expect(answer.status).toBe(200);
      return { number, etag: answer.headers.get('etag') ?? '' };
    };
    const begin = (key: string): Promise<string> => store.parts.begin(key, { contentType: TYPE });
    const openKeys = async (): Promise<string[]> => {
      const keys: string[] = [];
      for await (const { key } of store.parts.listOpen('t/')) keys.push(key);
      return keys;
    };

    it('puts parts that came in any order together, and knows the digest once it has read them', async () => {
      const key = freshKey();
      const before = await current().countLeftovers();
      const uploadId = await begin(key);
      const two = await send(key, uploadId, 2, last);
      const one = await send(key, uploadId, 1, first);
      expect(await store.head(key)).toBeNull();
      expect(await store.measure(key)).toBeNull();
      expect(await store.parts.list(key, uploadId)).toEqual([
        { ...one, sizeBytes: first.length },
        { ...two, sizeBytes: last.length },
      ]);
      expect(await openKeys()).toContain(key);
      expect(await store.parts.complete(key, uploadId, [one, two])).toBe('STORED');
      expect(await store.measure(key)).toMatchObject({ key, sizeBytes: whole.length });
      expect(await store.prove(key)).toMatchObject({
        ...{ key, sizeBytes: whole.length, sha256: sha256(whole), contentType: TYPE },
      });
      expect((await store.head(key))?.sha256).toBe(sha256(whole));
      const found = await store.getStream(key);
      expect(sha256(await buffer(found?.body ?? Readable.from([])))).toBe(sha256(whole));
      const copied = freshKey();
      expect(await store.copy(key, copied)).toMatchObject({ sha256: sha256(whole) });
      expect(await openKeys()).not.toContain(key);
      await store.delete(key);
      await store.delete(copied);
      expect(await current().countLeftovers()).toBe(before);
    });

    it('answers a repeated complete as the first, and the URLs of parts lead nowhere after it', async () => {
      const key = freshKey();
      const uploadId = await begin(key);
      const ticket = await ticketFor(key, uploadId, 1, last);
      const parts = [await send(key, uploadId, 1, last)];
      expect(await store.parts.complete(key, uploadId, parts)).toBe('STORED');
      expect(await store.parts.complete(key, uploadId, parts)).toBe('STORED');
      expect((await put(ticket, randomBytes(last.length))).status).toBe(404);
      expect(await store.parts.list(key, uploadId)).toBeNull();
      expect((await store.prove(key))?.sha256).toBe(sha256(last));
    });

    it('lets the last of a part that was sent twice count, and refuses the ETag of the one before', async () => {
      const key = freshKey();
      const uploadId = await begin(key);
      const stale = await send(key, uploadId, 1, randomBytes(1000));
      const fresh = await send(key, uploadId, 1, last);
      expect(await store.parts.list(key, uploadId)).toEqual([{ ...fresh, sizeBytes: last.length }]);
      expect(await store.parts.complete(key, uploadId, [stale])).toBe('MISMATCH');
      expect(await store.parts.complete(key, uploadId, [fresh])).toBe('STORED');
      expect((await store.prove(key))?.sha256).toBe(sha256(last));
    });

    it('completes nothing with a part that is missing, or too small to stand before another', async () => {
      const key = freshKey();
      const uploadId = await begin(key);
      const small = await send(key, uploadId, 1, randomBytes(1000));
      const two = await send(key, uploadId, 2, last);
      const missing = { number: 3, etag: two.etag };
      expect(await store.parts.complete(key, uploadId, [small, missing])).toBe('MISMATCH');
      expect(await store.parts.complete(key, uploadId, [small, two])).toBe('MISMATCH');
      expect(await store.measure(key)).toBeNull();
      expect(await store.parts.list(key, uploadId)).toHaveLength(2);
      await store.parts.abort(key);
    });

    it.each([
      ['shorter', 999],
      ['longer', 1001],
      ['empty', 0],
    ])('takes no %s part than was signed', async (_, length) => {
      const key = freshKey();
      const uploadId = await begin(key);
      const ticket = await ticketFor(key, uploadId, 1, randomBytes(1000));
      expect([400, 403, 413]).toContain((await put(ticket, randomBytes(length))).status);
      expect(await store.parts.list(key, uploadId)).toEqual([]);
      await store.parts.abort(key, uploadId);
    });

    it('signs one part of one upload of one key, and for a time', async () => {
      const key = freshKey();
      const uploadId = await begin(key);
      const bytes = randomBytes(1000);
      const ticket = await ticketFor(key, uploadId, 1, bytes);
      const altered = (from: RegExp, to: string): { url: string; headers: object } => ({
        ...ticket,
        url: ticket.url.replace(from, to),
      });
      const late = await ticketFor(key, uploadId, 1, bytes, new Date(Date.now() - 2 * HOUR_MS));
      for (const other of [
        altered(/clip\.mp4/, 'clip2.mp4'),
        altered(/(part|partNumber)=1/, '$1=2'),
        late,
      ]) {
        expect((await put({ ...other, headers: {} }, bytes)).status).toBe(403);
      }
      expect((await fetch(ticket.url)).status).toBe(403);
      expect(await store.parts.list(key, uploadId)).toEqual([]);
      await store.parts.abort(key);
    });

    it('lets pages of other origins send parts and read their ETags', async () => {
      const key = freshKey();
      const uploadId = await begin(key);
      const bytes = randomBytes(1000);
      const { url, headers } = await ticketFor(key, uploadId, 1, bytes);
      const asked = await fetch(url, {
        method: 'OPTIONS',
        headers: {
          origin: PAGE,
          'access-control-request-method': 'PUT',
          'access-control-request-headers': ['content-type', ...Object.keys(headers)].join(','),
        },
      });
      expect(asked.ok).toBe(true);
      expect(['*', PAGE]).toContain(asked.headers.get('access-control-allow-origin'));
      expect(asked.headers.get('access-control-allow-methods')).toContain('PUT');
      const sent = await put({ url, headers }, bytes);
      expect(['*', PAGE]).toContain(sent.headers.get('access-control-allow-origin'));
      expect(sent.headers.get('access-control-expose-headers')).toMatch(/\bETag\b/i);
      expect(sent.headers.get('etag')).toMatch(/^"[0-9a-f]+"$/);
      await store.parts.abort(key);
    });

    it('aborts one, or all of a key, and has nothing against doing it again', async () => {
      const key = freshKey();
      const beside = `${key}2`;
      const before = await current().countLeftovers();
      const uploads = [await begin(key), await begin(key), await begin(key)];
      const other = await begin(beside);
      const ticket = await ticketFor(key, uploads[0] ?? '', 1, last);
      await send(key, uploads[0] ?? '', 1, last);
      await store.parts.abort(key, uploads[0]);
      expect(await store.parts.list(key, uploads[0] ?? '')).toBeNull();
      expect((await put(ticket, last)).status).toBe(404);
      expect(await store.parts.list(key, uploads[1] ?? '')).toEqual([]);
      await store.parts.abort(key);
      await store.parts.abort(key);
      expect(await store.parts.list(key, uploads[2] ?? '')).toBeNull();
      expect(await store.parts.list(beside, other)).toEqual([]);
      await store.parts.abort(beside, other);
      expect(await store.parts.complete(key, uploads[1] ?? '', [{ number: 1, etag: '"0"' }])).toBe(
        'GONE',
      );
      expect(await current().countLeftovers()).toBe(before);
    });

    it('is never completed over another object, also when its own upload is gone', async () => {
      const key = freshKey();
      const uploadId = await begin(key);
      const parts = [await send(key, uploadId, 1, last)];
      const standing = Buffer.from('stands here');
      await store.putStream(key, Readable.from([standing]), {
        ...{ contentType: TYPE, sizeBytesMax: 100 },
      });
      expect(await store.parts.complete(key, uploadId, parts)).toBe('TAKEN');
      await store.parts.abort(key);
      expect(await store.parts.complete(key, uploadId, parts)).toBe('GONE');
      expect((await store.head(key))?.sha256).toBe(sha256(standing));
    });

    it('lets one of several that complete at once win, and all of them hear of it', async () => {
      const key = freshKey();
      const uploadId = await begin(key);
      const parts = [await send(key, uploadId, 1, first), await send(key, uploadId, 2, last)];
      const outcomes = await Promise.all(
        [1, 2, 3].map(() => store.parts.complete(key, uploadId, parts)),
      );
      expect(outcomes).toEqual(['STORED', 'STORED', 'STORED']);
      expect((await store.prove(key))?.sha256).toBe(sha256(whole));
      expect(await openKeys()).not.toContain(key);
    });
  });
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
