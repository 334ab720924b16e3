import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';

import { startVersitygw, type Versitygw } from '../../../cluster/servers/versitygw';
import { describeIfAvailable } from '../../support/requirements';

/** A first run builds the server. */
const BUILD_MS = 900_000;

describeIfAvailable('go', 'the S3 server of tests and cluster', () => {
  let dir: string;
  let server: Versitygw;
  let client: S3Client;

  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'versitygw-'));
    server = await startVersitygw({ dir });
    const { accessKeyId, secretAccessKey } = server;
    client = new S3Client({
      endpoint: server.url,
      region: server.region,
      forcePathStyle: true,
      maxAttempts: 1,
      credentials: { accessKeyId, secretAccessKey },
      requestChecksumCalculation: 'WHEN_REQUIRED',
    });
  }, BUILD_MS);
  afterAll(async () => {
    client.destroy();
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  });

  it('keeps its objects and its address over a stop and a kill, and counts what it was asked', async () => {
    const Bucket = server.bucket;
    await client.send(new PutObjectCommand({ Bucket, Key: 'a/b', Body: 'text' }));
    for (const end of [() => server.stop(), () => server.kill('SIGKILL')]) {
      const [pid] = server.pids;
      await end();
      expect(server.pids).toEqual([]);
      await expect(client.send(new GetObjectCommand({ Bucket, Key: 'a/b' }))).rejects.toThrow();
      await server.start();
      expect(server.pids).not.toEqual([pid]);
      const found = await client.send(new GetObjectCommand({ Bucket, Key: 'a/b' }));
      expect(await found.Body?.transformToString()).toBe('text');
    }
    // Bucket, CORS, put, two gets, and what asked whether it was up.
    expect(await server.countRequests()).toBeGreaterThanOrEqual(5);
  });
});
