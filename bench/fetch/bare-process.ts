import { createHash, type Hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { DeleteObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { request } from 'undici';

import type { BareStore } from './fetch-protocol';
import { serveFetcher, type Fetcher } from './serve-fetcher';

/** The same sizes as the store's adapter has. */
const PART_BYTES = 8 * 2 ** 20;
const PARTS_AT_ONCE = 4;

/** What one would write without the product: no guard, no limits, no resume, nothing that knows whose object is where. */
const store = JSON.parse(process.argv[2] ?? '{}') as BareStore;

const hashing = (hash: Hash): Transform =>
  new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      hash.update(chunk);
      done(null, chunk);
    },
  });

const download = async (url: string): Promise<Readable> => {
  const { statusCode, body } = await request(url);
  if (statusCode !== 200) throw new Error(`The origin answered ${statusCode}`);
  return body;
};

const toBucket = (bucket: Extract<BareStore, { kind: 's3' }>): Fetcher => {
  const { accessKeyId, secretAccessKey } = bucket;
  const client = new S3Client({
    endpoint: bucket.url,
    region: bucket.region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
    // As the adapter: else a CRC of every body comes on top.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  return {
    fetch: async ({ url, key }) => {
      const hash = createHash('sha256');
      const body = hashing(hash);
      const upload = new Upload({
        client,
        params: { Bucket: bucket.bucket, Key: key, Body: body, ContentType: 'video/mp4' },
        partSize: PART_BYTES,
        queueSize: PARTS_AT_ONCE,
      });
      await Promise.all([pipeline(await download(url), body), upload.done()]);
      return hash.digest('hex');
    },
    remove: async (key) => {
      await client.send(new DeleteObjectCommand({ Bucket: bucket.bucket, Key: key }));
    },
  };
};

const toFolder = (folder: string): Fetcher => ({
  fetch: async ({ url, key }) => {
    const hash = createHash('sha256');
    const target = path.join(folder, key);
    await mkdir(path.dirname(target), { recursive: true });
    const incoming = `${target}.incoming`;
    await pipeline(await download(url), hashing(hash), createWriteStream(incoming));
    await sync(incoming);
    await rename(incoming, target);
    await sync(path.dirname(target));
    return hash.digest('hex');
  },
  remove: (key) => rm(path.join(folder, key)),
});

const sync = async (target: string): Promise<void> => {
  const file = await open(target, 'r');
  await file.sync().finally(() => file.close());
};

serveFetcher(store.kind === 's3' ? toBucket(store) : toFolder(store.folder));
