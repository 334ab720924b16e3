import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

import { CreateMultipartUploadCommand, PutObjectCommand } from '@aws-sdk/client-s3';

import { rewritePlaylist } from '../../../src/adapters/object-store/s3/rewrite-playlist';
import { storedEvidence } from '../../../src/adapters/object-store/s3/stored-evidence';
import { ObjectStoreUnavailableError } from '../../../src/ports/object-store';
import { describeIfAvailable } from '../../support/requirements';
import { BUILD_MS, startS3Store, type RunningS3Store } from './start-s3-store';

jest.setTimeout(60_000);

const LARGE_BYTES = 9 * 2 ** 20;

describeIfAvailable('go', 'S3 object store', () => {
  let running: RunningS3Store;
  let store: RunningS3Store['store'];

  beforeAll(async () => {
    running = await startS3Store();
    store = running.store;
  }, BUILD_MS);
  afterAll(async () => {
    process.stdout.write(`versitygw has answered ${await running.server.countRequests()} more\n`);
    await running.close();
  });

  const freshKey = (): string => `t/${randomBytes(8).toString('hex')}/clip.mp4`;
  const put = (key: string, bytes: Buffer, into = store): ReturnType<typeof store.putStream> =>
    into.putStream(key, Readable.from([bytes]), {
      contentType: 'video/mp4',
      sizeBytesMax: bytes.length,
    });
  const life = (): { now: Date; expiresAt: Date } => {
    const now = new Date();
    return { now, expiresAt: new Date(now.getTime() + 60_000) };
  };

  it('says within bounds that the server is away, and goes on when it is back', async () => {
    const key = freshKey();
    await put(key, Buffer.from('text'));
    await running.server.kill('SIGKILL');
    for (const call of [
      () => put(freshKey(), Buffer.from('text')),
      () => put(freshKey(), randomBytes(LARGE_BYTES)),
      () => store.head(key),
      () => store.getStream(key),
      () => store.copy(key, freshKey()),
      () => store.delete(key),
      () => store.deleteIfOlder(key, new Date()),
      () => store.list('t/')[Symbol.asyncIterator]().next(),
      () => store.sweepTemporary(new Date()),
      () => store.health(),
    ]) {
      await expect(call()).rejects.toBeInstanceOf(ObjectStoreUnavailableError);
    }
    const playlist = await store.presignGetPrefix('t/', life());
    expect((await fetch(`${playlist}a.m3u8`)).status).toBe(503);
    await running.server.start();
    expect((await store.head(key))?.sizeBytes).toBe(4);
    expect(await store.health()).toMatchObject({ ok: true });
  });

  it('gives up a server that takes a request and never answers', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { settings } = store.options;
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const waiting = running.another({
      settings: { ...settings, endpoint },
      attemptsMax: 1,
      idleTimeoutMs: 300,
    });
    await expect(waiting.head('a/b')).rejects.toBeInstanceOf(ObjectStoreUnavailableError);
    silent.close();
  });

  it.each([
    ['a wrong secret', { secretAccessKey: 'x'.repeat(24) }],
    ['a bucket that is not there', { bucket: 'nowhere' }],
  ])('takes %s for an outage, so that work waits until it is mended', async (_, wrong) => {
    const other = running.another({ settings: { ...store.options.settings, ...wrong } });
    await expect(put(freshKey(), Buffer.from('text'), other)).rejects.toBeInstanceOf(
      ObjectStoreUnavailableError,
    );
    await expect(other.health()).rejects.toThrow();
  });

  it('passes on a broken source as what it is, though the store would fail alike', async () => {
    const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    const body = new Readable({ read: () => undefined });
    body.push(randomBytes(LARGE_BYTES));
    const before = await running.countLeftovers();
    const write = store.putStream(freshKey(), body, {
      contentType: 'video/mp4',
      sizeBytesMax: 2 * LARGE_BYTES,
    });
    setImmediate(() => body.destroy(reset));
    await expect(write).rejects.toBe(reset);
    expect(await running.countLeftovers()).toBe(before);
  });

  it('keeps the memory of a large put within a few parts', async () => {
    const chunk = randomBytes(1 << 20);
    let highest = 0;
    let produced = 0;
    function* source(): Generator<Buffer> {
      for (; produced < 160; produced += 1) {
        highest = Math.max(highest, process.memoryUsage().arrayBuffers);
        yield chunk;
      }
    }
    const floor = process.memoryUsage().arrayBuffers;
    const key = freshKey();
    await store.putStream(key, Readable.from(source(), { highWaterMark: 1 }), {
      contentType: 'video/mp4',
      sizeBytesMax: 160 << 20,
    });
    expect(produced).toBe(160);
    expect(highest - floor).toBeLessThan(120 << 20);
    await store.delete(key);
  });

  it('sweeps uploads, seals, marks and probes that nobody needs, and nothing else', async () => {
    const Bucket = running.server.bucket;
    const key = freshKey();
    await put(key, randomBytes(LARGE_BYTES));
    const needed = await running.countLeftovers();
    await running.client.send(new CreateMultipartUploadCommand({ Bucket, Key: freshKey() }));
    for (const left of ['seals/t/gone/clip.mp4/1', `seals/${key}/old`, 'deleting/t/a', 'probe/1']) {
      await running.client.send(
        new PutObjectCommand({ Bucket, Key: `~aivedio/${left}`, Body: 'x' }),
      );
    }
    expect(await store.sweepTemporary(new Date(Date.now() - 60_000))).toBe(0);
    expect(await store.sweepTemporary(new Date(Date.now() + 60_000))).toBe(5);
    expect(await running.countLeftovers()).toBe(needed);
    expect((await store.head(key))?.sizeBytes).toBe(LARGE_BYTES);
    expect(await store.deleteIfOlder(key, new Date(Date.now() + 60_000))).toBe(true);
    expect(await running.countLeftovers()).toBe(needed - 1);
  });

  it('waits for a deletion that is under way, and for one that died only so long', async () => {
    const key = freshKey();
    const Bucket = running.server.bucket;
    const mark = { Bucket, Key: `~aivedio/deleting/${key}` };
    await running.client.send(new PutObjectCommand({ ...mark, Body: 'x' }));
    let isDone = false;
    const writing = put(key, Buffer.from('text')).then((result) => {
      isDone = true;
      return result;
    });
    while ((await store.head(key)) === null) await new Promise(setImmediate);
    expect(isDone).toBe(false);
    expect(await store.deleteIfOlder(key, new Date(Date.now() + 60_000))).toBe(false);
    expect((await writing).outcome).toBe('created');
    expect(await store.sweepTemporary(new Date(Date.now() - 60_000))).toBe(0);
  });

  it('says what other software has put at a key, whether or not it noted a digest', async () => {
    const foreign = randomBytes(LARGE_BYTES);
    const sha256 = createHash('sha256').update(foreign).digest('hex');
    for (const noted of [{}, { Metadata: { sha256 } }]) {
      const key = freshKey();
      const where = { Bucket: store.options.settings.bucket, Key: key };
      await running.client.send(new PutObjectCommand({ ...where, Body: foreign, ...noted }));
      for (const bytes of [Buffer.from('ours'), randomBytes(LARGE_BYTES)]) {
        expect(await put(key, bytes)).toMatchObject({
          outcome: 'conflict',
          standing: { sizeBytes: LARGE_BYTES, sha256 },
        });
      }
    }
  });

  it('finds what stands at a key also where writes have no conditions', async () => {
    const plain = running.another({ conditionalWrites: false });
    const key = freshKey();
    for (const [text, outcome] of [
      ['text', 'created'],
      ['text', 'reused'],
      ['else', 'conflict'],
    ] as const) {
      expect((await put(key, Buffer.from(text), plain)).outcome).toBe(outcome);
    }
    expect((await store.head(key))?.sizeBytes).toBe(4);
  });

  it('signs for the public endpoint and works through the other', async () => {
    const { settings } = store.options;
    const publicEndpoint = 'https://media.example:8443';
    const two = running.another({ settings: { ...settings, publicEndpoint } });
    const key = freshKey();
    expect((await put(key, Buffer.from('text'), two)).outcome).toBe('created');
    const url = new URL(await two.presignGet(key, life()));
    expect([url.origin, url.pathname]).toEqual([publicEndpoint, `/${settings.bucket}/${key}`]);
    const byName = running.another({
      settings: { ...settings, publicEndpoint, addressing: 'virtual' },
    });
    const named = new URL(await byName.presignGet(key, life()));
    expect([named.host, named.pathname]).toEqual([
      ...[`${settings.bucket}.media.example:8443`, `/${key}`],
    ]);
  });

  it('demands encryption of the client too, where it is configured', async () => {
    const sealed = running.another({
      settings: { ...store.options.settings, encryption: 'aws:kms:key-1' },
    });
    const ticket = await sealed.presignPut('a/b', {
      ...life(),
      ...{ sizeBytes: 1, sha256: 'ab'.repeat(32), contentType: 'image/png' },
    });
    expect(ticket.headers).toMatchObject({
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-server-side-encryption-aws-kms-key-id': 'key-1',
    });
    expect(new URL(ticket.url).searchParams.get('X-Amz-SignedHeaders')).toContain(
      'x-amz-server-side-encryption;x-amz-server-side-encryption-aws-kms-key-id',
    );
  });

  it('plays: playlists lead to signed segments, byte ranges and init files, from another origin', async () => {
    const base = `t/${randomBytes(8).toString('hex')}`;
    const lines = [
      '#EXTM3U',
      '#EXT-X-MAP:URI="init.mp4",BYTERANGE="3@0"',
      '#EXTINF:2,',
      'seg-1.m4s',
    ];
    await put(`${base}/hls/master.m3u8`, Buffer.from('#EXTM3U\n#EXT-X-STREAM-INF\nhigh/i.m3u8\n'));
    await put(`${base}/hls/high/i.m3u8`, Buffer.from(`${lines.join('\r\n')}\r\n../../secret\r\n`));
    await put(`${base}/hls/high/init.mp4`, Buffer.from('init'));
    await put(`${base}/hls/high/seg-1.m4s`, Buffer.from('segment'));
    const url = await store.presignGetPrefix(`${base}/hls/`, life());
    expect(await (await fetch(`${url}master.m3u8`)).text()).toContain('\nhigh/i.m3u8\n');
    const media = await fetch(`${url}high/i.m3u8`);
    expect(media.headers.get('access-control-allow-origin')).toBe('*');
    const text = await media.text();
    const init = /URI="([^"]+)"/.exec(text)?.[1] ?? '';
    const segment = text.split('\r\n')[3] ?? '';
    expect(await (await fetch(init, { headers: { range: 'bytes=0-2' } })).text()).toBe('ini');
    const got = await fetch(segment, { headers: { origin: 'https://studio.example' } });
    expect(await got.text()).toBe('segment');
    expect(got.headers.get('access-control-allow-origin')).toBe('*');
    expect(text).toContain('\r\n../../secret\r\n');
    expect((await fetch(`${url}high/seg-1.m4s`, { method: 'HEAD' })).status).toBe(200);
  });

  it('tells verify what stands in the bucket, and reads it when asked', async () => {
    const bytes = randomBytes(LARGE_BYTES);
    const key = freshKey();
    await put(key, bytes);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const seen: unknown[] = [];
    for await (const each of storedEvidence(store, () => undefined)) {
      if (each.reference === key) seen.push([each.kind, each.id, each.amount]);
      expect(each.reference).not.toContain('~');
    }
    expect(seen).toEqual([
      ['object', sha256, String(bytes.length)],
      ['bytes', sha256, null],
    ]);
  });
});

describe('a playlist with signed links', () => {
  it('leaves absolute links, other playlists and files that are none alone, and signs each file once', async () => {
    const asked: string[] = [];
    const sign = (link: string): Promise<string> => {
      asked.push(link);
      return Promise.resolve(`signed:${link}`);
    };
    const text = '#EXTM3U\n#EXTINF:1,\na.ts\nhttps://else.example/b.ts\n/c.ts\nd.m3u8\na.ts\n';
    expect(await rewritePlaylist(text, sign)).toBe(
      '#EXTM3U\n#EXTINF:1,\nsigned:a.ts\nhttps://else.example/b.ts\n/c.ts\nd.m3u8\nsigned:a.ts\n',
    );
    expect(asked).toEqual(['a.ts']);
    expect(await rewritePlaylist('a.ts\n', sign)).toBe('a.ts\n');
  });
});
