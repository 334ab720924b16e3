import type { Asset } from '../../domain/output/asset';
import { derivativePrefix, PIPELINE_VERSION } from '../../domain/output/object-keys';
import { crashpoint } from '../../ports/crash-points';
import {
  MediaToolError,
  type Derivative,
  type DerivativeKind,
  type MediaFacts,
  type MediaToolkit,
} from '../../ports/media-toolkit';
import type { ObjectStore } from '../../ports/object-store';
import type { ScratchFolder } from '../../ports/scratch';
import type { NewAsset } from '../../ports/stores/asset-store';
import type { FlowContext } from '../flow-context';
import { holdStep } from '../transition/hold-step';

/** In the order in which they matter to the user: the proxy alone makes a result playable. */
export const PROFILES = [
  'PROXY',
  'HLS',
  'THUMBNAIL',
  'WAVEFORM',
  'STORYBOARD',
] as const satisfies readonly DerivativeKind[];

export interface Made {
  readonly profile: DerivativeKind;
  readonly asset: NewAsset;
  readonly facts: Derivative['facts'];
}

export interface DerivedSet {
  readonly made: readonly Made[];
  /** Already there from an earlier run, by business key. */
  readonly existing: readonly Asset[];
  readonly failed: readonly { readonly profile: DerivativeKind; readonly reason: string }[];
}

export const derivativeKey = (profile: DerivativeKind, rawAssetId: string): string =>
  `${profile.toLowerCase()}:${rawAssetId}:${PIPELINE_VERSION}`;

/**
 * Makes and stores every derivative that does not exist yet. One that fails does not stop the others. Files go to keys that
 * are the same on every run, so a run after a crash finds what is there.
 */
export const deriveAll = async (
  context: FlowContext,
  deps: { readonly toolkit: MediaToolkit; readonly objects: ObjectStore },
  raw: Asset,
  input: { readonly path: string; readonly facts: MediaFacts },
  folder: ScratchFolder,
  signal: AbortSignal,
): Promise<DerivedSet> => {
  const made: Made[] = [];
  const existing: Asset[] = [];
  const failed: { profile: DerivativeKind; reason: string }[] = [];
  const present = await context.uow.stores.assets.listByKind(raw.id, PROFILES);
  const hold = createHold(context, raw);
  for (const profile of PROFILES) {
    const key = derivativeKey(profile, raw.id);
    const there = present.find((each) => each.businessKey === key);
    if (isUsable(there)) {
      existing.push(there);
      continue;
    }
    try {
      await hold();
      const one = await deriveOne(context, deps, raw, input, folder, profile, signal);
      if (one === null) continue;
      if ('asset' in one) made.push(one);
      else existing.push(one);
    } catch (error) {
      if (!(error instanceof MediaToolError)) throw error;
      context.log.warn('a derivative failed', {
        profile,
        rawAssetId: raw.id,
        kind: error.cause_kind,
      });
      failed.push({ profile, reason: error.cause_kind });
    }
  }
  return { made, existing, failed };
};

const isUsable = (row: Asset | null | undefined): row is Asset =>
  row?.status === 'READY' || row?.status === 'IN_REVIEW';

/** A tool may work in silence for as long as its limit: before each one the hold must last that long. */
const createHold = (context: FlowContext, raw: Asset): (() => Promise<void>) => {
  const { mediaTimeLimitMs, stuckAfterMs } = context.settings;
  let heldUntilMs = 0;
  return async () => {
    const nowMs = context.clock.now().getTime();
    if (raw.attemptId === null || heldUntilMs >= nowMs + mediaTimeLimitMs) return;
    await holdStep(context, raw.attemptId, mediaTimeLimitMs + stuckAfterMs);
    heldUntilMs = nowMs + mediaTimeLimitMs + stuckAfterMs;
  };
};

const deriveOne = async (
  context: FlowContext,
  deps: { readonly toolkit: MediaToolkit; readonly objects: ObjectStore },
  raw: Asset,
  input: { readonly path: string; readonly facts: MediaFacts },
  folder: ScratchFolder,
  profile: DerivativeKind,
  signal: AbortSignal,
): Promise<Made | Asset | null> => {
  const derivative = await deps.toolkit.derive(
    profile,
    input,
    `${folder.path}/${profile.toLowerCase()}`,
    {
      timeLimitMs: context.settings.mediaTimeLimitMs,
      signal,
    },
  );
  if (derivative === null) return null;
  crashpoint('media.after_derive_before_put');
  const prefix = derivativePrefix(raw.tenantId, raw.id, profile, PIPELINE_VERSION);
  for (const file of derivative.files) {
    const put = await putFile(deps.objects, `${prefix}${file.name}`, file, folder, signal);
    crashpoint('media.after_file_before_next');
    if (put !== 'conflict') continue;
    // Another run has come first, and its row vouches for its files.
    const there = await context.uow.stores.assets.findByBusinessKey(derivativeKey(profile, raw.id));
    if (isUsable(there)) return there;
    // Encoders are not bit-exact across runs, and no row names the old file yet: it is replaced as a whole.
    await deps.objects.delete(`${prefix}${file.name}`);
    const again = await putFile(deps.objects, `${prefix}${file.name}`, file, folder, signal);
    if (again === 'conflict') throw new Error(`Somebody else writes ${prefix}${file.name}`);
  }
  return {
    profile,
    asset: assetOf(context, raw, profile, prefix, derivative),
    facts: derivative.facts,
  };
};

const putFile = async (
  objects: ObjectStore,
  key: string,
  file: Derivative['files'][number],
  folder: ScratchFolder,
  signal: AbortSignal,
): Promise<'created' | 'reused' | 'conflict'> => {
  const put = await objects.putStream(key, folder.read(file.path), {
    contentType: file.contentType,
    sizeBytesMax: file.sizeBytes,
    expected: { sizeBytes: file.sizeBytes, sha256: file.sha256 },
    signal,
  });
  return put.outcome;
};

const assetOf = (
  context: FlowContext,
  raw: Asset,
  profile: DerivativeKind,
  prefix: string,
  derivative: Derivative,
): NewAsset => {
  const entry = derivative.files.find((file) => file.name === derivative.entry);
  if (entry === undefined) throw new Error(`${profile} lacks its entry file ${derivative.entry}`);
  const single = derivative.files.length === 1;
  return {
    id: context.ids.next(context.clock.now()),
    tenantId: raw.tenantId,
    projectId: raw.projectId,
    taskId: raw.taskId,
    attemptId: raw.attemptId,
    parentAssetId: raw.id,
    kind: profile,
    status: 'READY',
    fileName: derivative.entry,
    objectKey: single ? `${prefix}${entry.name}` : prefix,
    quarantineKey: null,
    entryName: single ? null : derivative.entry,
    sizeBytes: BigInt(derivative.files.reduce((sum, file) => sum + file.sizeBytes, 0)),
    sha256: entry.sha256,
    declaredMime: null,
    detectedMime: entry.contentType,
    pipelineVersion: PIPELINE_VERSION,
    businessKey: derivativeKey(profile, raw.id),
  };
};
