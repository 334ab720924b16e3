import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { startVersitygw, type Versitygw } from '../../cluster/servers/versitygw';
import { endWithServer } from '../flow/end-with-server';
import type { BareStore, Fetched } from './fetch-protocol';
import { startChild, type Child } from './start-child';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const MIB = 2 ** 20;
const SHARE_MIN_ONE_STREAM = 0.9;
const SHARE_MIN_RANGES = 1.5;
/** As a CDN or an object store may hold each connection to. */
const LIMITED_BYTES_PER_SECOND = 40_000_000;
/**
 * What a fetch may have in memory: five parts of 8 MiB on the way to the store, as many ranges of 8 MiB on the way here, and as much
 * again that nobody needs any longer and the collector has not taken yet.
 */
const GROWN_MIB_MAX = { oneStream: 2 * 5 * 8, ranges: 2 * (5 + 5) * 8 };

interface FetchOptions {
  readonly sizeBytes: number;
  readonly pairs: number;
  readonly s3: boolean;
}

export const readFetchOptions = (args: readonly string[]): FetchOptions => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      short: { type: 'boolean', default: false },
      mib: { type: 'string' },
      pairs: { type: 'string' },
      'without-s3': { type: 'boolean', default: false },
    },
  });
  const pairs = Number(values.pairs ?? (values.short ? 3 : 5));
  const mib = Number(values.mib ?? (values.short ? 64 : 256));
  if (!Number.isInteger(pairs) || pairs < 1) throw new Error('--pairs is a number from 1');
  // Smaller outputs come as one stream from every origin.
  if (!Number.isInteger(mib) || mib < 64) throw new Error('--mib is a number from 64');
  return { sizeBytes: mib * MIB, pairs, s3: !values['without-s3'] };
};

interface Case {
  readonly name: string;
  /** Of the origin. */
  readonly path: string;
  readonly shareMin: number;
  readonly grownMibMax: number;
}

const CASES: readonly Case[] = [
  {
    name: 'one stream (an origin without ranges)',
    path: '/whole',
    shareMin: SHARE_MIN_ONE_STREAM,
    grownMibMax: GROWN_MIB_MAX.oneStream,
  },
  {
    name: 'ranges, no limit (an origin as fast as loopback)',
    path: '/ranges',
    shareMin: SHARE_MIN_RANGES,
    grownMibMax: GROWN_MIB_MAX.ranges,
  },
  {
    name: `ranges, each connection limited to ${LIMITED_BYTES_PER_SECOND / 1e6} MB/s`,
    path: `/ranges?bytesPerSecond=${LIMITED_BYTES_PER_SECOND}`,
    shareMin: SHARE_MIN_RANGES,
    grownMibMax: GROWN_MIB_MAX.ranges,
  },
];

interface Store {
  readonly name: string;
  /** What the product's process is told. */
  readonly env: Readonly<Record<string, string>>;
  readonly bare: BareStore;
  /** How many requests its server has answered; null: there is no server. */
  readonly requestsSeen: () => Promise<number | null>;
}

/** How fast the product brings an output into its store, beside the least code that does so, on S3 and on disk. */
export const runFetchBench = async (options: FetchOptions): Promise<void> => {
  const dir = await mkdtemp(path.join(tmpdir(), 'aivedio-bench-'));
  const versitygw = options.s3 ? await startVersitygw({ dir, log: say }) : null;
  const stop = endWithServer({
    stop: async () => {
      await versitygw?.stop();
      await rm(dir, { recursive: true, force: true });
    },
  });
  const stores = [...(versitygw === null ? [] : [inBucket(versitygw)]), onDisk(dir)];
  try {
    say(`load ${load()}, ${options.sizeBytes / MIB} MiB, medians of ${options.pairs} pairs`);
    const origin = await startChild('origin-process.js', 'origin', [String(options.sizeBytes)]);
    try {
      for (const store of stores) {
        for (const each of CASES) await showCase(dir, store, each, origin.first, options);
      }
    } finally {
      await origin.stop();
    }
  } finally {
    await stop();
  }
};

const inBucket = (versitygw: Versitygw): Store => {
  const { url, region, bucket, accessKeyId, secretAccessKey } = versitygw;
  return {
    name: 'S3',
    env: versitygw.env,
    bare: { kind: 's3', url, region, bucket, accessKeyId, secretAccessKey },
    requestsSeen: () => versitygw.countRequests(),
  };
};

const onDisk = (dir: string): Store => ({
  name: 'disk',
  env: { AIVEDIO_OBJECT_STORE: 'disk' },
  bare: { kind: 'disk', folder: path.join(dir, 'bare') },
  requestsSeen: () => Promise.resolve(null),
});

const load = (): string => (loadavg()[0] ?? 0).toFixed(1);

const showCase = async (
  dir: string,
  store: Store,
  { name, path: originPath, shareMin, grownMibMax }: Case,
  origin: { readonly baseUrl: string; readonly sha256: string },
  { sizeBytes, pairs }: FetchOptions,
): Promise<void> => {
  const seenBefore = await store.requestsSeen();
  const fetchers = await startFetchers(dir, store, origin.baseUrl);
  const url = `${origin.baseUrl}${originPath}`;
  const run = async (who: 'product' | 'bare', round: number): Promise<Fetched> => {
    const fetched = await fetchers[who].fetch({ url, key: `bench/${who}/${round}` });
    if (fetched.sha256 !== origin.sha256) throw new Error(`${who} stored other bytes`);
    return fetched;
  };
  const seen: { readonly product: Fetched; readonly bare: Fetched }[] = [];
  let warm: (typeof seen)[number];
  try {
    // The first of each warms the code and the connections; of it only the memory counts.
    warm = { product: await run('product', 0), bare: await run('bare', 0) };
    for (let round = 1; round <= pairs; round += 1) {
      if (round % 2 === 1) {
        const product = await run('product', round);
        seen.push({ product, bare: await run('bare', round) });
      } else {
        const bare = await run('bare', round);
        seen.push({ product: await run('product', round), bare });
      }
    }
  } finally {
    await Promise.all([fetchers.product.stop(), fetchers.bare.stop()]);
  }
  const rate = (who: 'product' | 'bare'): string =>
    (sizeBytes / 1e3 / median(seen.map((pair) => pair[who].ms))).toFixed(0);
  const grownMib = (who: 'product' | 'bare'): number =>
    Math.max(...[warm, ...seen].map((pair) => pair[who].grownBytes)) / MIB;
  const shares = seen.map(({ product, bare }) => bare.ms / product.ms);
  const share = median(shares);
  const judged = (isMet: boolean): string => (isMet ? 'met' : 'MISSED');
  say(
    `${store.name}, ${name}: ${rate('product')} MB/s, bare ${rate('bare')} MB/s;` +
      ` share ${share.toFixed(2)} (pairs ${Math.min(...shares).toFixed(2)} to ${Math.max(...shares).toFixed(2)};` +
      ` aim ${shareMin}: ${judged(share >= shareMin)}); memory grew by ${grownMib('product').toFixed(0)} MiB` +
      ` (bound ${grownMibMax}: ${judged(grownMib('product') <= grownMibMax)}), bare ${grownMib('bare').toFixed(0)} MiB;` +
      `${await tellRequests(store, seenBefore)} load ${load()}`,
  );
};

const tellRequests = async (store: Store, before: number | null): Promise<string> => {
  const after = await store.requestsSeen();
  if (after === null || before === null) return '';
  if (after === before) throw new Error(`The server of ${store.name} saw no request`);
  return ` the server saw ${after - before} requests;`;
};

/** A process for each, so that nobody's memory and garbage is another's. */
const startFetchers = async (
  dir: string,
  { env, bare }: Store,
  originUrl: string,
): Promise<{ product: Child<'ready'>; bare: Child<'ready'> }> => {
  const secret = (): string => randomBytes(32).toString('base64url');
  const product = await startChild('product-process.js', 'ready', [], {
    AIVEDIO_DATA_DIR: path.join(dir, 'product'),
    AIVEDIO_LOG_LEVEL: 'error',
    AIVEDIO_BELL: 'parent',
    // Nothing listens there, and nobody asks: a hold on the step would, after a third of this time.
    AIVEDIO_DATABASE_URL: 'postgres://nobody@127.0.0.1:9/nothing',
    AIVEDIO_STUCK_AFTER_MS: '3600000',
    AIVEDIO_SIGNING_SECRET: secret(),
    // The guard lets plain http through to the sandbox alone: here that is the origin.
    AIVEDIO_SANDBOX_URL: originUrl,
    AIVEDIO_SANDBOX_API_KEY: secret(),
    AIVEDIO_SANDBOX_WEBHOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
    ...env,
  });
  try {
    return { product, bare: await startChild('bare-process.js', 'ready', [JSON.stringify(bare)]) };
  } catch (error) {
    await product.stop();
    throw error;
  }
};

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
};
