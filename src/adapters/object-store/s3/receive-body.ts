import { createHash, type Hash } from 'node:crypto';
import type { Readable } from 'node:stream';

import {
  ObjectMismatchError,
  ObjectTooLargeError,
  type ObjectStore,
} from '../../../ports/object-store';

export type PutOptions = Parameters<ObjectStore['putStream']>[2];

/** S3 wants at least 5 MiB for each part but the last, and at most 10,000 parts. */
const PART_BYTES = 8 * 2 ** 20;
const PARTS_MAX = 9_000;

export const partBytesFor = (sizeBytesMax: number): number =>
  Math.max(PART_BYTES, Math.ceil(sizeBytesMax / PARTS_MAX));

/** What went wrong is the stream's, or its owner's, and no fault of the store however alike the two look. */
export class SourceFailure extends Error {
  constructor(readonly reason: unknown) {
    super('the stream failed');
  }
}

/** Cuts a stream into parts, counting and hashing on the way; one part is in memory here. */
export class BodyReader {
  private readonly chunks: AsyncIterator<unknown>;
  private readonly hash: Hash = createHash('sha256');
  private rest: Buffer = Buffer.alloc(0);
  private ended = false;
  sizeBytes = 0;

  constructor(
    private readonly body: Readable,
    private readonly options: PutOptions,
    readonly partBytes: number,
  ) {
    this.chunks = body[Symbol.asyncIterator]();
  }

  /** Empty only where the stream has ended with the part before. */
  async nextPart(): Promise<Buffer> {
    const pieces: Buffer[] = [];
    let length = 0;
    while (length < this.partBytes) {
      const bytes = this.rest.length > 0 ? this.rest : await this.nextChunk();
      this.rest = Buffer.alloc(0);
      if (bytes === null) break;
      const wanted = this.partBytes - length;
      pieces.push(bytes.length > wanted ? bytes.subarray(0, wanted) : bytes);
      if (bytes.length > wanted) this.rest = bytes.subarray(wanted);
      length += Math.min(bytes.length, wanted);
    }
    const part = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, length);
    this.hash.update(part);
    return part;
  }

  /** Whole parts went out and nothing is left. */
  get isAtEnd(): boolean {
    return this.ended && this.rest.length === 0;
  }

  /** After the last part. @throws ObjectMismatchError unless the stream was what was expected */
  async finish(): Promise<string> {
    const sha256 = this.hash.digest('hex');
    const { expected, onReceived } = this.options;
    if (expected?.sizeBytes !== undefined && expected.sizeBytes !== this.sizeBytes) {
      throw new ObjectMismatchError(`got ${this.sizeBytes} bytes, expected ${expected.sizeBytes}`);
    }
    if (expected?.sha256 !== undefined && expected.sha256 !== sha256) {
      throw new ObjectMismatchError('the SHA-256 of the bytes is not the expected one');
    }
    await onReceived?.({ sizeBytes: this.sizeBytes, sha256 }).catch((error: unknown) => {
      throw new SourceFailure(error);
    });
    return sha256;
  }

  /** So that the source is not read any further. */
  stop(reason?: unknown): void {
    this.body.destroy(reason as Error | undefined);
  }

  private async nextChunk(): Promise<Buffer | null> {
    const { done, value } = await this.chunks.next().catch((error: unknown) => {
      throw new SourceFailure(error);
    });
    if (done === true) {
      this.ended = true;
      return null;
    }
    const bytes = asBuffer(value);
    this.sizeBytes += bytes.length;
    if (this.sizeBytes > this.options.sizeBytesMax) {
      throw new ObjectTooLargeError(`the object has more than ${this.options.sizeBytesMax} bytes`);
    }
    return bytes;
  }
}

const asBuffer = (chunk: unknown): Buffer => {
  if (Buffer.isBuffer(chunk)) return chunk;
  return chunk instanceof Uint8Array ? Buffer.from(chunk) : Buffer.from(String(chunk));
};
