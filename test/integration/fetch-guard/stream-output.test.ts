import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

import { eventually } from '../../support/eventually';
import { createGuardedFetcher } from '../../../src/adapters/fetch-guard/guarded-fetcher';
import { streamOutput } from '../../../src/flow/fetch/stream-output';
import {
  OutputInterruptedError,
  OutputTooLargeError,
  type OutputSource,
} from '../../../src/ports/output-source';

const CONTENT = randomBytes(1_000_003);
const RANGES = { fromBytes: 100_000, atOnce: 3, rangeBytes: 100_000 };

interface Asked {
  readonly start: number;
  readonly end: number;
  readonly isRange: boolean;
  /** Of all requests, from 1. */
  readonly nth: number;
}

type Answer = (asked: Asked, request: IncomingMessage, response: ServerResponse) => void;

/** Serves ranges of the content as a good server does. */
const serve =
  (
    headers: Readonly<Record<string, string>> = { etag: '"v1"', 'accept-ranges': 'bytes' },
  ): Answer =>
  ({ start, end, isRange }, _request, response) => {
    response.writeHead(isRange ? 206 : 200, {
      ...headers,
      'content-length': end - start + 1,
      ...(isRange ? { 'content-range': `bytes ${start}-${end}/${CONTENT.length}` } : {}),
    });
    response.end(CONTENT.subarray(start, end + 1));
  };

/** The head of the answer, half of its bytes, and a cut. */
const cut: Answer = ({ start, end, isRange }, _request, response) => {
  response.writeHead(isRange ? 206 : 200, {
    ...{ etag: '"v1"', 'accept-ranges': 'bytes', 'content-length': end - start + 1 },
    ...(isRange ? { 'content-range': `bytes ${start}-${end}/${CONTENT.length}` } : {}),
  });
  const half = CONTENT.subarray(start, start + Math.ceil((end - start) / 2));
  response.write(half, () => setImmediate(() => response.destroy()));
};

describe('an output that comes in ranges', () => {
  let answer: Answer;
  let asked: Asked[];
  let under: { now: number; most: number };
  let headers: IncomingMessage['headers'][];
  let source: OutputSource;
  let url: string;
  const server = createServer((request, response) => {
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
    const end = range?.[2] === undefined || range[2] === '' ? CONTENT.length - 1 : Number(range[2]);
    const is = { start: Number(range?.[1] ?? 0), end, isRange: range !== null };
    const one = { ...is, nth: asked.length + 1 };
    asked.push(one);
    headers.push(request.headers);
    under.now += 1;
    under.most = Math.max(under.most, under.now);
    response.once('close', () => (under.now -= 1));
    answer(one, request, response);
  });

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    url = `http://${host}/clip.mp4`;
    source = createGuardedFetcher({
      ...{ clock: { now: () => new Date() }, insecureLocalHosts: [host], idleTimeoutMs: 5_000 },
    });
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  beforeEach(() => {
    answer = serve();
    asked = [];
    headers = [];
    under = { now: 0, most: 0 };
  });

  const get = async (
    changes: { sizeBytesMax?: number; signal?: AbortSignal; onChunk?: () => Promise<void> } = {},
  ): Promise<Buffer> => {
    const { sizeBytesMax = 2_000_000, signal, onChunk = () => Promise.resolve() } = changes;
    const options = {
      ...{ allowedHosts: 'any' as const, sizeBytesMax },
      ...(signal === undefined ? {} : { signal }),
    };
    const first = await source.open(url, options);
    if (first.kind !== 'OK') throw new Error(first.kind);
    return buffer(streamOutput(source, url, first, options, onChunk, RANGES));
  };

  it('is whole and in order, several ranges at once, all of one version', async () => {
    expect((await get()).equals(CONTENT)).toBe(true);
    expect(asked).toHaveLength(11);
    const ranges = asked.slice(1);
    expect(ranges.map(({ start }) => start).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 10 }, (_, index) => (index + 1) * 100_000),
    );
    expect(headers.slice(1).every((each) => each['if-range'] === '"v1"')).toBe(true);
  });

  it('never has more ranges under way than it may, however slow its reader is', async () => {
    const { onChunk, most } = (() => {
      let highest = 0;
      return {
        most: () => highest,
        onChunk: () => {
          highest = Math.max(highest, asked.length);
          return Promise.resolve();
        },
      };
    })();
    const options = { allowedHosts: 'any' as const, sizeBytesMax: 2_000_000 };
    const first = await source.open(url, options);
    if (first.kind !== 'OK') throw new Error(first.kind);
    const body = streamOutput(source, url, first, options, onChunk, RANGES);
    for await (const chunk of body) {
      expect(chunk).toBeDefined();
      break;
    }
    // Nobody read on: the first answer and the ranges beside it are all that was asked for.
    expect(asked.length).toBeLessThanOrEqual(RANGES.atOnce);
    expect(most()).toBeLessThanOrEqual(RANGES.atOnce);
    expect(under.most).toBeLessThanOrEqual(RANGES.atOnce);
  });

  it.each([
    ['says nothing of ranges', { etag: '"v1"' }],
    ['names no version', { 'accept-ranges': 'bytes' }],
    ['names its version weakly', { etag: 'W/"v1"', 'accept-ranges': 'bytes' }],
  ])('comes as one stream from a server that %s', async (_, said) => {
    answer = serve(said);
    expect((await get()).equals(CONTENT)).toBe(true);
    expect(asked).toHaveLength(1);
  });

  it('goes on where a range broke', async () => {
    const broken = new Set([1, 3, 5]);
    const good = serve();
    answer = (one, request, response) => (broken.has(one.nth) ? cut : good)(one, request, response);
    expect((await get()).equals(CONTENT)).toBe(true);
    const starts = asked.map(({ start }) => start);
    expect(starts.filter((start) => start % 100_000 !== 0).length).toBeGreaterThanOrEqual(2);
    expect(asked.filter(({ start }) => start === 0)).toHaveLength(1);
  });

  it.each([
    ['has no room for several', 503],
    ['forgets what it promised', 416],
  ])('comes as one stream from where it was when the server %s', async (_, status) => {
    const good = serve();
    answer = (one, request, response) => {
      // Only a request to the end is answered from then on.
      if (one.nth <= 4 || one.end === CONTENT.length - 1) good(one, request, response);
      else response.writeHead(status).end();
    };
    if (status === 416) {
      await expect(get().then((bytes) => bytes.equals(CONTENT))).resolves.toBe(true);
      return;
    }
    expect((await get()).equals(CONTENT)).toBe(true);
    const last = asked.at(-1);
    expect(last?.end).toBe(CONTENT.length - 1);
    expect(last?.start).toBeGreaterThan(0);
  });

  it('never joins two versions', async () => {
    const [first, second] = [serve(), serve({ etag: '"v2"', 'accept-ranges': 'bytes' })];
    answer = (one, request, response) => {
      // If-Range does not fit any more: the whole of the other version.
      if (one.nth <= 2) first(one, request, response);
      else second({ ...one, start: 0, end: CONTENT.length - 1, isRange: false }, request, response);
    };
    await expect(get()).rejects.toBeInstanceOf(OutputInterruptedError);
  });

  it('is stopped by its bound and by its caller, and leaves no connection', async () => {
    const options = { allowedHosts: 'any' as const, sizeBytesMax: 999 };
    expect(await source.open(url, options)).toMatchObject({ kind: 'REFUSED', reason: 'TOO_LARGE' });
    const caller = new AbortController();
    const reason = new Error('the worker is told to stop');
    const onChunk = (): Promise<void> => {
      if (asked.length >= 3) caller.abort(reason);
      return Promise.resolve();
    };
    const reading = get({ signal: caller.signal, onChunk });
    await expect(reading).rejects.toThrow('the worker is told to stop');
    await expect(reading).rejects.not.toBeInstanceOf(OutputTooLargeError);
    const count = (): Promise<number> =>
      new Promise((resolve) => server.getConnections((_, open) => resolve(open)));
    await eventually('all connections are closed', async () => (await count()) === 0);
  });
});
