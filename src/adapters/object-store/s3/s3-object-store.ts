import type { Readable } from 'node:stream';

import {
  GetObjectCommand,
  HeadBucketCommand,
  type GetObjectCommandOutput,
} from '@aws-sdk/client-s3';

import type { Clock } from '../../../ports/clock';
import type { Health } from '../../../ports/health';
import type { IdSource } from '../../../ports/ids';
import {
  ObjectMismatchError,
  type ByteRange,
  type ListedObject,
  type ObjectHead,
  type ObjectStore,
  type PutResult,
  type UploadTicket,
} from '../../../ports/object-store';
import type { PartUploads } from '../../../ports/part-uploads';
import { assertFolderPrefix, assertListPrefix, assertObjectKey } from '../object-key';
import { buildPrefixUrl } from '../signed-urls';
import { ConditionalWrites } from './conditional-writes';
import { deleteIfOlder, removeKey } from './deletion-marks';
import {
  askHead,
  knownMetadata,
  readHead,
  removeSeal,
  sealedMetadata,
  toHead,
  toObjectHead,
  writeSeal,
  type Bucket,
} from './digests';
import { listKeys } from './list-keys';
import { presignGet, presignHead, presignPut } from './presign';
import { publish, stageWhole } from './publish';
import { BodyReader, partBytesFor, SourceFailure, type PutOptions } from './receive-body';
import { encryptionOf, openS3Clients, type S3Clients, type S3Settings } from './s3-client';
import { createS3Parts } from './part-uploads';
import { proveDigest } from './prove-digest';
import { asStoreErrors, isMissing, statusOf } from './s3-errors';
import { abortParts, beginParts, copyParts, sendParts, showParts } from './stage-parts';
import { sweepLeftovers } from './sweep-leftovers';

export interface S3StoreOptions {
  readonly settings: S3Settings;
  /** Where `createSharedPrefixRoutes` is mounted, as clients reach it. */
  readonly prefixBaseUrl: string;
  /** At least 32 random bytes, the same in every process that signs or serves. */
  readonly signingKey: Buffer;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Null, which is the rule: found out at the first write. */
  readonly conditionalWrites?: boolean | null;
  readonly attemptsMax?: number;
  readonly idleTimeoutMs?: number;
}

export const createS3ObjectStore = (options: S3StoreOptions): S3ObjectStore => {
  if (options.signingKey.length < 32) {
    throw new RangeError('the signing key of shared prefixes has at least 32 bytes');
  }
  return new S3ObjectStore(options);
};

/** The object store on anything that speaks S3; the contract is at the port. */
export class S3ObjectStore implements ObjectStore {
  readonly clients: S3Clients;
  readonly bucket: Bucket;
  readonly parts: PartUploads;
  private readonly conditional: ConditionalWrites;

  constructor(readonly options: S3StoreOptions) {
    this.clients = openS3Clients(options.settings, options);
    this.bucket = { client: this.clients.inside, name: options.settings.bucket };
    const newId = (): string => this.newId();
    const { conditionalWrites = null } = options;
    this.conditional = new ConditionalWrites(this.bucket, newId, conditionalWrites);
    this.parts = createS3Parts({
      ...{ clients: this.clients, bucket: this.bucket, newId, encryption: this.encryption },
      isConditional: () => this.isConditional(),
    });
  }

  async putStream(key: string, body: Readable, options: PutOptions): Promise<PutResult> {
    assertObjectKey(key);
    const reader = new BodyReader(body, options, partBytesFor(options.sizeBytesMax));
    const stop = (): void => reader.stop(options.signal?.reason ?? new Error('aborted'));
    if (options.signal?.aborted) stop();
    options.signal?.addEventListener('abort', stop, { once: true });
    try {
      const first = await reader.nextPart();
      return await asStoreErrors(() =>
        first.length < reader.partBytes
          ? this.putWhole(key, first, reader, options)
          : this.putParts(key, first, reader, options),
      );
    } catch (error) {
      reader.stop();
      throw error instanceof SourceFailure ? error.reason : error;
    } finally {
      options.signal?.removeEventListener('abort', stop);
    }
  }

  /** @throws RangeError when the range does not lie within the object. */
  async getStream(
    key: string,
    range?: ByteRange,
  ): Promise<{ head: ObjectHead; body: Readable } | null> {
    assertObjectKey(key);
    return asStoreErrors(async () => {
      for (let tries = 0; tries < SEAL_TRIES; tries += 1) {
        const answer = await this.ask(key, range);
        if (answer === null) return null;
        const body = answer.Body as Readable;
        const head = await toHead(this.bucket, key, answer).catch((error: unknown) => {
          body.destroy();
          throw error;
        });
        if (head !== null && (range === undefined || range.end < head.sizeBytes)) {
          return { head: toObjectHead(head), body };
        }
        body.destroy();
        if (head !== null) throw outside(range, head.sizeBytes);
        // Its seal is gone: it was put again since, or its bytes are not known yet.
      }
      return null;
    });
  }

  async head(key: string): Promise<ObjectHead | null> {
    assertObjectKey(key);
    return asStoreErrors(async () => {
      const head = await readHead(this.bucket, key);
      return head === null ? null : toObjectHead(head);
    });
  }

  async measure(key: string): Promise<ListedObject | null> {
    assertObjectKey(key);
    const raw = await asStoreErrors(() => askHead(this.bucket, key));
    if (raw === null) return null;
    return { key, sizeBytes: raw.ContentLength ?? 0, modifiedAt: raw.LastModified ?? new Date(0) };
  }

  async prove(key: string): Promise<ObjectHead | null> {
    assertObjectKey(key);
    return asStoreErrors(async () => {
      const head = await proveDigest(this.bucket, key);
      return head === null ? null : toObjectHead(head);
    });
  }

  /** @throws ObjectMismatchError when there is nothing at `fromKey`. */
  async copy(fromKey: string, toKey: string): Promise<PutResult> {
    assertObjectKey(fromKey);
    assertObjectKey(toKey);
    return asStoreErrors(async () => {
      const from = await readHead(this.bucket, fromKey);
      if (from === null) throw new ObjectMismatchError(`there is no object at ${fromKey}`);
      const { sha256, sizeBytes, contentType } = from;
      const writeId = this.newId();
      const metadata = knownMetadata(writeId, sha256, this.options.clock.now());
      const { encryption } = this;
      const common = { key: toKey, writeId, sha256 };
      if (sizeBytes === 0) {
        const whole = { ...common, body: Buffer.alloc(0), contentType, metadata, encryption };
        return publish(this.bucket, stageWhole(this.bucket, whole), await this.isConditional());
      }
      // Not CopyObject: only the end of a multipart upload has a condition on every store that has any.
      const upload = await beginParts(this.bucket, toKey, { contentType, metadata, encryption });
      return this.endParts(upload, async () => {
        const parts = await copyParts(this.bucket, upload, from);
        return publish(
          this.bucket,
          {
            ...common,
            sizeBytes,
            show: (condition) => showParts(this.bucket, upload, parts, condition),
          },
          await this.isConditional(),
        );
      });
    });
  }

  async delete(key: string): Promise<void> {
    assertObjectKey(key);
    await asStoreErrors(async () => {
      const head = await readHead(this.bucket, key);
      await removeKey(this.bucket, key);
      if (head?.sealId) await removeSeal(this.bucket, key, head.sealId);
    });
  }

  async deleteIfOlder(key: string, modifiedBefore: Date): Promise<boolean> {
    assertObjectKey(key);
    return asStoreErrors(() => deleteIfOlder(this.bucket, key, modifiedBefore));
  }

  list(
    prefix: string,
    options: Parameters<ObjectStore['list']>[1] = {},
  ): AsyncIterable<ListedObject> {
    assertListPrefix(prefix);
    return listKeys(this.bucket, prefix, options);
  }

  async presignPut(
    key: string,
    options: Parameters<ObjectStore['presignPut']>[1],
  ): Promise<UploadTicket> {
    assertObjectKey(key);
    return presignPut(this.clients, this.options.settings, key, options);
  }

  async presignGet(
    key: string,
    options: Parameters<ObjectStore['presignGet']>[1],
  ): Promise<string> {
    assertObjectKey(key);
    return presignGet(this.clients, this.options.settings, key, options);
  }

  /** HEAD needs a URL of its own here: a signature is for one method. */
  async presignHead(
    key: string,
    life: { readonly now: Date; readonly expiresAt: Date },
  ): Promise<string> {
    assertObjectKey(key);
    return presignHead(this.clients, this.options.settings, key, life);
  }

  /** @throws InvalidObjectKeyError unless the prefix ends with `/`. */
  async presignGetPrefix(
    prefix: string,
    options: Parameters<ObjectStore['presignGetPrefix']>[1],
  ): Promise<string> {
    assertFolderPrefix(prefix);
    return buildPrefixUrl(this.options.prefixBaseUrl, this.options.signingKey, {
      method: 'GET_PREFIX',
      prefix,
      expiresAtMs: options.expiresAt.getTime(),
    });
  }

  /** Whether the bucket can be reached with these keys. */
  async health(): Promise<Health> {
    const { bucket } = this.options.settings;
    await asStoreErrors(() =>
      this.bucket.client.send(new HeadBucketCommand({ Bucket: bucket }), {
        abortSignal: AbortSignal.timeout(HEALTH_TIMEOUT_MS),
      }),
    );
    return { ok: true, detail: `bucket ${bucket} answers` };
  }

  /**
   * Removes what crashed writers left, last touched before `olderThan`; answers how many.
   * @param spared the prefix of keys whose uploads in parts are ended by those who began them
   */
  sweepTemporary(olderThan: Date, spared: string | null = null): Promise<number> {
    return asStoreErrors(() => sweepLeftovers(this.bucket, olderThan, spared));
  }

  close(): void {
    this.clients.close();
  }

  /** Whether a write can demand that nothing stands at its key; asked by trying. */
  isConditional(): Promise<boolean> {
    return this.conditional.areHonoured();
  }

  private newId(): string {
    return this.options.ids.next(this.options.clock.now());
  }

  private get encryption(): object {
    return encryptionOf(this.options.settings.encryption);
  }

  private async putWhole(
    key: string,
    body: Buffer,
    reader: BodyReader,
    { contentType }: PutOptions,
  ): Promise<PutResult> {
    const sha256 = await reader.finish();
    const writeId = this.newId();
    const metadata = knownMetadata(writeId, sha256, this.options.clock.now());
    const { encryption } = this;
    const input = { key, writeId, body, sha256, contentType, metadata, encryption };
    return publish(this.bucket, stageWhole(this.bucket, input), await this.isConditional());
  }

  private async putParts(
    key: string,
    first: Buffer,
    reader: BodyReader,
    { contentType }: PutOptions,
  ): Promise<PutResult> {
    const writeId = this.newId();
    const metadata = sealedMetadata(writeId);
    const { encryption } = this;
    const upload = await beginParts(this.bucket, key, { contentType, metadata, encryption });
    return this.endParts(upload, async () => {
      const parts = await sendParts(this.bucket, upload, reader, first);
      const sha256 = await reader.finish();
      const { sizeBytes } = reader;
      const modifiedAtMs = this.options.clock.now().getTime();
      await writeSeal(this.bucket, key, writeId, { sha256, sizeBytes, modifiedAtMs });
      const show = (condition: object): Promise<void> =>
        showParts(this.bucket, upload, parts, condition);
      const staged = { key, writeId, sha256, sizeBytes, show };
      const result = await publish(this.bucket, staged, await this.isConditional());
      if (result.outcome === 'conflict') await removeSeal(this.bucket, key, writeId);
      return result;
    });
  }

  /** Gives back what was sent unless it became an object; a cleaning that fails is left to the sweep. */
  private async endParts(
    upload: Parameters<typeof abortParts>[1],
    work: () => Promise<PutResult>,
  ): Promise<PutResult> {
    let isShown = false;
    try {
      const result = await work();
      isShown = result.outcome !== 'conflict';
      return result;
    } finally {
      if (!isShown) await abortParts(this.bucket, upload).catch(() => undefined);
    }
  }

  private async ask(key: string, range?: ByteRange): Promise<GetObjectCommandOutput | null> {
    if (range !== undefined && (range.start < 0 || range.start > range.end)) {
      throw outside(range, null);
    }
    try {
      return await this.bucket.client.send(
        new GetObjectCommand({
          Bucket: this.bucket.name,
          Key: key,
          ChecksumMode: 'ENABLED',
          ...(range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` }),
        }),
      );
    } catch (error) {
      if (statusOf(error) === 416) throw outside(range, null);
      if (isMissing(error)) return null;
      throw error;
    }
  }
}

const HEALTH_TIMEOUT_MS = 3_000;
const SEAL_TRIES = 3;

const outside = (range: ByteRange | undefined, sizeBytes: number | null): RangeError =>
  new RangeError(
    `bytes ${range?.start}-${range?.end}${sizeBytes === null ? '' : ` of ${sizeBytes}`} do not exist`,
  );
