import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import express from 'express';
import {
  createDiskObjectStore,
  type DiskObjectStore,
} from '../../../src/adapters/object-store/disk/disk-object-store';
import { createDiskStoreRoutes } from '../../../src/adapters/object-store/disk/disk-store-routes';
import { ObjectStoreUnavailableError, type UploadTicket } from '../../../src/ports/object-store';
import { describeObjectStore } from './describe-object-store';

interface Running {
  readonly store: DiskObjectStore;
  readonly root: string;
  readonly port: number;
  readonly close: () => Promise<void>;
}

async function startDiskStore(now: () => Date = () => new Date()): Promise<Running> {
  const root = await mkdtemp(join(tmpdir(), 'disk-store-'));
  const app = express();
  const server: Server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const store = createDiskObjectStore({
    root,
    publicBaseUrl: `http://127.0.0.1:${port}/objects/`,
    signingKey: randomBytes(32),
    clock: { now },
  });
  app.use('/objects', createDiskStoreRoutes(store));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(root, { recursive: true, force: true });
  };
  return { store, root, port, close };
}

describeObjectStore(
  'disk',
  async () => {
    const { store, root, close } = await startDiskStore();
    const countLeftovers = async (): Promise<number> => {
      const counts = ['tmp', 'parts'].map(async (folder) => {
        const names = await readdir(join(root, folder)).catch(() => []);
        return names.length;
      });
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    };
    return { store, countLeftovers, close };
  },
  { signedHead: true, sizeOn416: true, keysBelowKeys: true },
);

describe('disk object store', () => {
  let running: Running;
  let store: DiskObjectStore;
  let nowMs: number;
  const life = (): { now: Date; expiresAt: Date } => ({
    now: new Date(nowMs),
    expiresAt: new Date(nowMs + 60_000),
  });
  const put = (key: string, text: string): Promise<unknown> =>
    store.putStream(key, Readable.from([Buffer.from(text)]), {
      contentType: 'text/plain',
      sizeBytesMax: 1000,
    });
  const ticketFor = (key: string, bytes: Buffer): Promise<UploadTicket> =>
    store.presignPut(key, {
      ...life(),
      sizeBytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      contentType: 'video/mp4',
    });

  beforeEach(async () => {
    nowMs = Date.UTC(2030, 0, 1);
    running = await startDiskStore(() => new Date(nowMs));
    store = running.store;
  });
  afterEach(() => running.close());

  it('fails for a key under a stray file alone, and names the file', async () => {
    const stray = join(running.root, 'objects', 'a');
    await put('b/c', 'text');
    await writeFile(stray, 'stray');
    const named = `the disk store failed: ENOTDIR at ${stray}, a file where a folder belongs`;
    const failing = [put('a/b', 'text'), put('a/b/c', 'text'), store.head('a/b')];
    for (const outcome of await Promise.allSettled(failing)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { message: named } });
    }
    await put('b/d', 'text');
    const keys: string[] = [];
    for await (const { key } of store.list('')) keys.push(key);
    expect(keys).toEqual(['b/c', 'b/d']);
    expect(await readdir(join(running.root, 'tmp'))).toEqual([]);
  });

  it('gives up a place that is taken by what is no object', async () => {
    const place = join(running.root, 'objects', 'a~o');
    await mkdir(place, { recursive: true });
    await writeFile(join(place, 'stray'), 'stray');
    await expect(put('a', 'text')).rejects.toThrow(
      new ObjectStoreUnavailableError(`the disk store failed: ${place} is taken by no object`),
    );
  });

  it('judges the end of a URL by its own clock, to the millisecond', async () => {
    await put('a/b', 'text');
    const url = await store.presignGet('a/b', life());
    nowMs += 59_999;
    expect((await fetch(url)).status).toBe(200);
    nowMs += 1;
    const late = await fetch(url);
    expect(late.status).toBe(403);
    expect(await late.json()).toMatchObject({ code: 'AccessDenied' });
  });

  it('refuses a URL of which any part was changed', async () => {
    await put('a/b', 'text');
    const get = new URL(await store.presignGet('a/b', { ...life(), downloadName: 'x' }));
    const putUrl = new URL((await ticketFor('a/c', Buffer.from('1234'))).url);
    for (const url of [get, putUrl]) {
      for (const name of url.searchParams.keys()) {
        const altered = new URL(url);
        altered.searchParams.set(name, `${url.searchParams.get(name)}1`);
        const upload = { method: 'PUT', body: '1234', headers: { 'content-type': 'video/mp4' } };
        const refused = await fetch(altered, url === get ? {} : upload);
        const { message } = (await refused.json()) as { message: string };
        expect([name, refused.status, message]).toEqual([
          ...[name, 403, 'the URL was not signed by this store, or was altered'],
        ]);
      }
    }
    const token = await store.presignGetPrefix('a/', life());
    const claims = Buffer.from(JSON.stringify(['', nowMs + 60_000])).toString('base64url');
    const forged = token.replace(/\/p\/[^.]+/, `/p/${claims}`);
    expect((await fetch(`${forged}a/b`)).status).toBe(403);
    expect((await fetch(`${token}b`)).status).toBe(200);
  });

  it('shares a prefix only at the border of a segment', async () => {
    await expect(store.presignGetPrefix('tenant-1', life())).rejects.toThrow('ends with');
  });

  it('wants a Content-Length', async () => {
    const ticket = await ticketFor('a/c', Buffer.from('1234'));
    const status = await new Promise<number>((resolve, reject) => {
      const sending = request(ticket.url, { method: 'PUT', headers: ticket.headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      sending.once('error', reject);
      sending.write('12');
      sending.end('34');
    });
    expect(status).toBe(411);
    expect(await store.head('a/c')).toBeNull();
  });

  it('keeps nothing of an upload whose client went away', async () => {
    const ticket = await ticketFor('a/c', Buffer.alloc(100_000));
    const { pathname, search } = new URL(ticket.url);
    const socket = connect(running.port, '127.0.0.1');
    socket.write(
      `PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\nContent-Type: video/mp4\r\n` +
        `Content-Length: 100000\r\n\r\n${'0'.repeat(50_000)}`,
    );
    const temporaryDir = join(running.root, 'tmp');
    const countTemporary = async (): Promise<number> =>
      (await readdir(temporaryDir).catch(() => [])).length;
    await until(async () => (await countTemporary()) === 1);
    socket.destroy();
    await until(async () => (await countTemporary()) === 0);
    expect(await store.head('a/c')).toBeNull();
  });

  it('answers 409 when another object stands at the key', async () => {
    await put('a/c', 'old');
    const refused = await fetch((await ticketFor('a/c', Buffer.from('1234'))).url, {
      method: 'PUT',
      headers: { 'content-type': 'video/mp4' },
      body: '1234',
    });
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({ code: 'ObjectExists' });
  });

  it('lets a page of another origin upload and play', async () => {
    const ticket = await ticketFor('a/c', Buffer.from('1234'));
    const preflight = await fetch(ticket.url, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://studio.example',
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'content-type',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-methods')).toContain('PUT');
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(/content-type.*range/i);
    await put('a/b', 'text');
    const got = await fetch(await store.presignGet('a/b', life()));
    expect(got.headers.get('access-control-allow-origin')).toBe('*');
    expect(got.headers.get('access-control-expose-headers')).toContain('Content-Range');
    expect(got.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    expect(got.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; media-src 'self'/,
    );
  });

  it('saves the client what it has, and gives all of a changed object', async () => {
    await put('a/b', 'text');
    const url = await store.presignGet('a/b', life());
    const etag = (await fetch(url)).headers.get('etag') ?? '';
    expect((await fetch(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
    const range = 'bytes=1-2';
    expect((await fetch(url, { headers: { range, 'if-range': etag } })).status).toBe(206);
    expect((await fetch(url, { headers: { range, 'if-range': '"other"' } })).status).toBe(200);
  });

  it('sweeps what a crash left behind, but not what is under way', async () => {
    await put('a/b', 'text');
    for (const name of ['old', 'new']) {
      await mkdir(join(running.root, 'tmp', name), { recursive: true });
      await writeFile(join(running.root, 'tmp', name, 'incoming'), 'half');
    }
    const hourAgo = new Date(Date.now() - 3_600_000);
    await utimes(join(running.root, 'tmp', 'old'), hourAgo, hourAgo);
    expect(await store.sweepTemporary(new Date(Date.now() - 60_000))).toBe(1);
    expect(await readdir(join(running.root, 'tmp'))).toEqual(['new']);
    expect(await store.head('a/b')).not.toBeNull();
  });

  it('keeps no folder of deleted objects', async () => {
    await put('deep/er/a', 'text');
    await store.delete('deep/er/a');
    expect(await readdir(join(running.root, 'objects'))).toEqual([]);
  });

  it('says that it is out of reach when the disk is', async () => {
    await rm(running.root, { recursive: true });
    await writeFile(running.root, 'a file where the folder was');
    await expect(put('a/b', 'text')).rejects.toBeInstanceOf(ObjectStoreUnavailableError);
    await expect(store.head('a/b')).rejects.toBeInstanceOf(ObjectStoreUnavailableError);
    const url = await store.presignGet('a/b', life());
    expect((await fetch(url)).status).toBe(503);
  });
});

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}
