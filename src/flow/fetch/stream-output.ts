import { Readable } from 'node:stream';

import { crashpoint } from '../../ports/crash-points';
import { OutputInterruptedError, type OutputSource } from '../../ports/output-source';
import { reopen, resumedChunks, type Opened } from './resume-download';

type OpenOptions = Parameters<OutputSource['open']>[1];

export interface RangeSettings {
  /** Below this one stream does. */
  readonly fromBytes: number;
  /** How many ranges are under way at once. With the size of one it bounds what is in memory. */
  readonly atOnce: number;
  readonly rangeBytes: number;
}

const RANGES: RangeSettings = {
  fromBytes: 64 * 2 ** 20,
  atOnce: 4,
  rangeBytes: 8 * 2 ** 20,
};

const TRIES_MAX = 3;

/**
 * The whole output as one stream of bytes in their order. A large one, of a server that answers ranges and names the version, is
 * asked for in several ranges at once; anything else comes as one stream. A range that breaks is continued where it broke, and
 * when ranges are not to be had after all, the rest comes as one stream. Two versions are never joined.
 * @param first the opened whole output; closed early where ranges follow
 * @param onChunk a sign of life
 */
export const streamOutput = (
  source: OutputSource,
  url: string,
  first: Opened,
  options: OpenOptions,
  onChunk: () => Promise<void>,
  settings: RangeSettings = RANGES,
): Readable => {
  const { sizeBytes, etag, acceptsRanges } = first;
  // A weak ETag may stand for other bytes.
  const isNamed = etag?.startsWith('"') === true;
  if (sizeBytes === null || sizeBytes < settings.fromBytes || !acceptsRanges || !isNamed) {
    return toStream(resumedChunks(source, url, first, options, onChunk));
  }
  const asked = { source, url, first, options, onChunk, settings, sizeBytes, etag };
  return toStream(inRanges(asked));
};

const toStream = (pieces: AsyncIterable<Buffer>): Readable =>
  Readable.from(
    (async function* () {
      for await (const piece of pieces) {
        crashpoint('fetch.after_bytes_before_end');
        yield piece;
      }
    })(),
    { objectMode: false },
  );

interface Asked {
  readonly source: OutputSource;
  readonly url: string;
  readonly first: Opened;
  readonly options: OpenOptions;
  readonly onChunk: () => Promise<void>;
  readonly settings: RangeSettings;
  readonly sizeBytes: number;
  readonly etag: string;
}

const inRanges = async function* (asked: Asked): AsyncGenerator<Buffer> {
  const { source, url, first, options, onChunk, settings, sizeBytes, etag } = asked;
  const stop = new AbortController();
  const signal =
    options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
  const under = { ...asked, options: { ...options, signal } };
  const waiting: Promise<readonly Buffer[]>[] = [];
  let asking = 0;
  let given = 0;
  try {
    while (given < sizeBytes) {
      for (; asking < sizeBytes && waiting.length < settings.atOnce;) {
        const end = Math.min(asking + settings.rangeBytes, sizeBytes) - 1;
        const range = readRange(under, asking, end);
        // Awaited in its turn; until then a failure must not count as unhandled.
        range.catch(() => undefined);
        waiting.push(range);
        asking = end + 1;
      }
      for (const chunk of (await waiting.shift()) ?? []) {
        given += chunk.length;
        yield chunk;
      }
    }
    return;
  } catch (error) {
    if (!(error instanceof OutputInterruptedError)) throw error;
  } finally {
    stop.abort();
    first.body.destroy();
  }
  const rest = await reopen(source, url, given, etag, options);
  yield* resumedChunks(source, url, rest, options, onChunk);
};

/** The bytes of one range, whole; a cut is continued. */
const readRange = async (
  { source, url, first, options, onChunk, etag }: Asked,
  start: number,
  end: number,
): Promise<readonly Buffer[]> => {
  const pieces: Buffer[] = [];
  let received = 0;
  for (let tries = 1; ; tries += 1) {
    const from = start + received;
    const body = from === 0 ? first.body : await openRange(source, url, from, end, etag, options);
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        // The first answer goes on to the end of the output; only its beginning is a range.
        const piece = chunk.subarray(0, end - start + 1 - received);
        pieces.push(piece);
        received += piece.length;
        await onChunk();
        if (received === end - start + 1) return pieces;
      }
      throw new OutputInterruptedError('A range ended before its end');
    } catch (error) {
      const isCut = error instanceof OutputInterruptedError;
      // From the very beginning there is no range to ask for.
      if (!isCut || tries >= TRIES_MAX || start + received === 0) throw error;
    }
  }
};

const openRange = async (
  source: OutputSource,
  url: string,
  rangeStart: number,
  rangeEnd: number,
  ifRangeEtag: string,
  options: OpenOptions,
): Promise<Readable> => {
  const opening = await source.open(url, { ...options, rangeStart, rangeEnd, ifRangeEtag });
  if (opening.kind === 'OK' && opening.rangeStart === rangeStart) return opening.body;
  if (opening.kind === 'OK') opening.body.destroy();
  throw new OutputInterruptedError('A range of the output cannot be had');
};
