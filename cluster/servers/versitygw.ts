import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

import { CreateBucketCommand, PutBucketCorsCommand, S3Client } from '@aws-sdk/client-s3';

import { freePort } from '../../src/runtime/free-port';

const runFile = promisify(execFile);

/** Apache-2.0; its posix backend keeps each object as a file. */
const VERSITYGW = 'github.com/versity/versitygw/cmd/versitygw@v1.8.0';
const LOCAL = '127.0.0.1';
const BUILD_TIMEOUT_MS = 15 * 60_000;
const START_TRIES = 400;

export interface VersitygwOptions {
  /** Holds objects, their metadata and the access log; kept over `stop` and `start`. */
  readonly dir: string;
  readonly log?: (line: string) => void;
  /** 0 or nothing: any free one. */
  readonly port?: number;
  /** Made before this answers; null: none. */
  readonly bucket?: string | null;
  /** Given, `<bucket>.<domain>` addresses a bucket too. */
  readonly virtualDomain?: string;
}

export interface Versitygw {
  readonly url: string;
  readonly port: number;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly bucket: string;
  /** What a process of the product is told to use this server. */
  readonly env: Readonly<Record<string, string>>;
  /** How many requests it has answered since the first start, each by its line in the access log. */
  countRequests(): Promise<number>;
  /** With the bucket and its CORS rules where these are missing. */
  createBucket(name: string, options?: { readonly cors?: boolean }): Promise<void>;
  /** Ends it in good order; objects stay. */
  stop(): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Again on the same port and data, after `stop` or `kill`. */
  start(): Promise<void>;
  readonly pids: readonly number[];
}

/** A real S3 server of this machine, on a free port. */
export const startVersitygw = async (options: VersitygwOptions): Promise<Versitygw> => {
  const say = options.log ?? (() => undefined);
  const binary = await buildVersitygw(say);
  const port = await freePort(LOCAL, options.port ?? 0);
  const url = `http://${LOCAL}:${port}`;
  const region = 'us-east-1';
  const accessKeyId = `local${randomBytes(6).toString('hex')}`;
  const secretAccessKey = randomBytes(24).toString('hex');
  const bucket = options.bucket ?? 'aivedio';
  const data = path.join(options.dir, 'objects');
  const accessLog = path.join(options.dir, 'access.log');
  await mkdir(data, { recursive: true });
  let server: ChildProcess | null = null;

  const start = async (): Promise<void> => {
    if (server !== null) return;
    const output = await open(path.join(options.dir, 'server.log'), 'a');
    const domain =
      options.virtualDomain === undefined ? [] : ['--virtual-domain', options.virtualDomain];
    try {
      server = spawn(
        binary,
        [
          ...['--quiet', '--keep-alive', '--port', `${LOCAL}:${port}`, '--region', region],
          ...['--health', '/healthz', '--access-log', accessLog, ...domain],
          ...['posix', data],
        ],
        {
          stdio: ['ignore', output.fd, output.fd],
          env: {
            PATH: process.env['PATH'] ?? '',
            ROOT_ACCESS_KEY_ID: accessKeyId,
            ROOT_SECRET_ACCESS_KEY: secretAccessKey,
          },
        },
      );
    } finally {
      await output.close();
    }
    await untilAnswers(`${url}/healthz`, server, options.dir);
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const running = server;
    server = null;
    if (running === null || running.exitCode !== null || running.signalCode !== null) return;
    const gone = new Promise((resolve) => running.once('exit', resolve));
    running.kill(signal);
    await gone;
  };
  const createBucket: Versitygw['createBucket'] = async (name, { cors = true } = {}) => {
    const client = new S3Client({
      endpoint: url,
      region,
      forcePathStyle: true,
      credentials: { accessKeyId, secretAccessKey },
      requestChecksumCalculation: 'WHEN_REQUIRED',
    });
    try {
      await client.send(new CreateBucketCommand({ Bucket: name })).catch((error: unknown) => {
        if ((error as Error).name !== 'BucketAlreadyOwnedByYou') throw error;
      });
      if (cors) await client.send(corsOf(name));
    } finally {
      client.destroy();
    }
  };

  await start();
  if (options.bucket !== null) await createBucket(bucket);
  return {
    ...{ url, port, region, accessKeyId, secretAccessKey, bucket, start, createBucket },
    env: {
      AIVEDIO_OBJECT_STORE: 's3',
      AIVEDIO_S3_ENDPOINT: url,
      AIVEDIO_S3_REGION: region,
      AIVEDIO_S3_BUCKET: bucket,
      AIVEDIO_S3_ACCESS_KEY_ID: accessKeyId,
      AIVEDIO_S3_SECRET_ACCESS_KEY: secretAccessKey,
      AIVEDIO_S3_ADDRESSING: 'path',
    },
    countRequests: async () => {
      const text = await readFile(accessLog, 'utf8').catch(() => '');
      // Each start writes a line of its own.
      return text.split('\n').filter((line) => line !== '' && !line.startsWith('log starts'))
        .length;
    },
    stop: () => end('SIGTERM'),
    kill: end,
    get pids() {
      return server?.pid === undefined ? [] : [server.pid];
    },
  };
};

/** Builds the pinned server with Go, once for this account; answers the program's path. */
export const buildVersitygw = async (say: (line: string) => void): Promise<string> => {
  const version = VERSITYGW.slice(VERSITYGW.lastIndexOf('@') + 1);
  const cache = path.join(homedir(), '.cache', 'aivedio');
  const folder = path.join(cache, `versitygw-${version}`);
  const binary = path.join(folder, 'versitygw');
  if (existsSync(binary)) return binary;
  await mkdir(folder, { recursive: true });
  // Somewhere else first: a build that is cut off, or runs twice, must not leave half a program here.
  const workshop = await mkdtemp(path.join(cache, 'build-'));
  say(`building versitygw ${version}, which takes some minutes once …`);
  try {
    await runFile('go', ['install', VERSITYGW], {
      env: { ...process.env, GOBIN: workshop },
      cwd: workshop,
      timeout: BUILD_TIMEOUT_MS,
    });
    await rename(path.join(workshop, 'versitygw'), binary);
    return binary;
  } catch (error) {
    const reason = String((error as Error).message).slice(0, 500);
    throw new Error(`versitygw cannot be built with Go: ${reason}`, { cause: error });
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
};

const corsOf = (bucket: string) =>
  new PutBucketCorsCommand({
    Bucket: bucket,
    CORSConfiguration: {
      CORSRules: [
        {
          AllowedOrigins: ['*'],
          AllowedMethods: ['GET', 'HEAD', 'PUT', 'POST'],
          AllowedHeaders: ['*'],
          ExposeHeaders: ['ETag', 'Content-Length', 'Content-Range', 'Accept-Ranges'],
          MaxAgeSeconds: 3_000,
        },
      ],
    },
  });

const untilAnswers = async (url: string, server: ChildProcess, dir: string): Promise<void> => {
  for (let tries = 0; tries < START_TRIES; tries += 1) {
    if (server.exitCode !== null) break;
    const answered = await fetch(url).then(
      (answer) => answer.ok,
      () => false,
    );
    if (answered) return;
    await wait(50);
  }
  server.kill('SIGKILL');
  const said = await readFile(path.join(dir, 'server.log'), 'utf8').catch(() => '');
  throw new Error(`versitygw does not answer; its last words: ${said.slice(-1_000)}`);
};
