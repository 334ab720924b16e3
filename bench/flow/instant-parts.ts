import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';

import type { JobObservation } from '../../src/domain/provider/vocabulary';
import type { FlowContext } from '../../src/flow/flow-context';
import { recordObservation } from '../../src/flow/observe/record-observation';
import type { Container } from '../../src/runtime/container';
import type { MediaToolkit } from '../../src/ports/media-toolkit';
import type { ObjectStore } from '../../src/ports/object-store';
import type { OutputSource } from '../../src/ports/output-source';
import type { ProviderGateway } from '../../src/ports/provider-gateway';
import type { Scratch } from '../../src/ports/scratch';
import { INSTANT_FACTS, instantProxy } from '../instant-clip';

/**
 * Everything that is not ours answers at once: provider, network, disk and ffmpeg. The stages run with all their transitions and
 * writes; what is left to measure is the product's own path through Postgres.
 */
export const withInstantParts = (container: Container): Container => {
  const gateway = createInstantGateway(container.context);
  const gatewayOf = (): ProviderGateway => gateway;
  return {
    ...container,
    objects: Object.assign(
      Object.create(container.objects) as Container['objects'],
      instantObjects,
    ),
    provider: { ...container.provider, gatewayOf, objects: instantObjects },
    gatewayOrNull: gatewayOf,
    source: instantSource,
    media: () =>
      Promise.resolve({ toolkit: instantToolkit, scratch: instantScratch, limits: NO_LIMITS }),
  };
};

const CLIP = Buffer.from('a clip of no length');
const CLIP_SHA256 = createHash('sha256').update(CLIP).digest('hex');

/** Accepts at once and calls back at once: the success is on its way before the answer has been committed. */
const createInstantGateway = (context: FlowContext): ProviderGateway => ({
  submit: (account, request) => {
    const jobId = `job-${request.attemptId}`;
    const sighting = {
      providerId: 'sandbox',
      accountId: account.id,
      source: 'callback' as const,
      sourceEventId: `event-${request.attemptId}`,
      requestKey: request.requestKey,
      observation: successOf(jobId),
    };
    setImmediate(() => {
      recordObservation(context, sighting).catch((error: unknown) => {
        context.log.error('a callback was lost', { error: String(error) });
      });
    });
    return Promise.resolve({ kind: 'ACCEPTED', jobId, digest: '202' });
  },
  list: () => Promise.resolve({ kind: 'LISTED', jobs: [] }),
  query: (_, jobId) =>
    Promise.resolve({
      kind: 'FOUND',
      observation: successOf(jobId),
      raw: null,
    }),
  cancel: () => Promise.resolve({ kind: 'ALREADY_FINISHED' }),
  reconcile: () => Promise.resolve({ kind: 'UNDECIDABLE', reason: 'nothing is lost here' }),
  verifyCallback: () => ({ ok: false, reason: 'BAD_SIGNATURE' }),
});

/** The same whenever it is asked: the job ended in the millisecond that its attempt's id carries. */
const successOf = (jobId: string): JobObservation => ({
  jobId,
  status: 'SUCCEEDED',
  rawStatus: 'succeeded',
  progress: 100,
  providerUpdatedAt: new Date(Number.parseInt(jobId.slice(4, 17).replace('-', ''), 16)),
  failure: null,
  outputs: [{ index: 0, url: 'https://outputs.invalid/clip.mp4', expiresAt: null }],
  charge: { amount: '0.04', currency: 'USD' },
  echoedRequestKey: null,
});

const instantSource: OutputSource = {
  open: () =>
    Promise.resolve({
      kind: 'OK',
      status: 200,
      sizeBytes: CLIP.length,
      etag: null,
      rangeStart: 0,
      acceptsRanges: false,
      body: Readable.from([CLIP], { objectMode: false }),
    }),
};

const headOf = (key: string) => ({
  key,
  sizeBytes: CLIP.length,
  sha256: CLIP_SHA256,
  contentType: 'video/mp4',
  modifiedAt: new Date(0),
});

/** Takes everything, keeps nothing; what is asked back is always the clip. */
const instantObjects: ObjectStore = {
  putStream: async (_, body, { onReceived }) => {
    for await (const chunk of body) void chunk;
    await onReceived?.({ sizeBytes: CLIP.length, sha256: CLIP_SHA256 });
    return { sizeBytes: CLIP.length, sha256: CLIP_SHA256, outcome: 'created' };
  },
  getStream: (key) =>
    Promise.resolve({ head: headOf(key), body: Readable.from([CLIP], { objectMode: false }) }),
  head: () => Promise.resolve(null),
  measure: () => Promise.resolve(null),
  prove: () => Promise.resolve(null),
  parts: {
    begin: () => Promise.reject(new Error('nothing comes in parts here')),
    presign: () => Promise.reject(new Error('nothing comes in parts here')),
    list: () => Promise.resolve(null),
    complete: () => Promise.resolve('GONE'),
    abort: () => Promise.resolve(),
    listOpen: async function* () {
      yield* [];
    },
  },
  copy: () => Promise.resolve({ sizeBytes: CLIP.length, sha256: CLIP_SHA256, outcome: 'created' }),
  delete: () => Promise.resolve(),
  deleteIfOlder: () => Promise.resolve(false),
  list: async function* () {
    yield* [];
  },
  presignPut: (key, { expiresAt }) =>
    Promise.resolve({
      url: `https://objects.invalid/${key}`,
      method: 'PUT',
      headers: {},
      expiresAt,
    }),
  presignGet: (key) => Promise.resolve(`https://objects.invalid/${key}`),
  presignGetPrefix: (prefix) => Promise.resolve(`https://objects.invalid/${prefix}`),
};

const instantScratch: Scratch = {
  use: (work) =>
    work({
      path: 'nowhere',
      save: async (name, body) => {
        for await (const chunk of body) void chunk;
        return { path: name, sha256: CLIP_SHA256 };
      },
      read: () => Readable.from([CLIP], { objectMode: false }),
    }),
};

/** The proxy decides over the generation; the others are made of nothing here. */
const instantToolkit: MediaToolkit = {
  probe: () => Promise.resolve({ ok: true, facts: INSTANT_FACTS }),
  derive: (kind) =>
    Promise.resolve(
      kind === 'PROXY'
        ? instantProxy({ path: 'proxy.mp4', sizeBytes: CLIP.length, sha256: CLIP_SHA256 })
        : null,
    ),
};

const NO_LIMITS = {
  sizeBytesMax: 1_000_000,
  widthMax: 10_000,
  heightMax: 10_000,
  pixelsMax: 100_000_000,
  durationMsMax: 600_000,
  frameRateMax: 120,
};
