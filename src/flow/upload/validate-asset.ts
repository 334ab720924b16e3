import type { Asset } from '../../domain/output/asset';
import { crashpoint } from '../../ports/crash-points';
import type { MalwareScanner } from '../../ports/malware-scanner';
import type { MediaFacts, MediaLimits, MediaToolkit } from '../../ports/media-toolkit';
import { payloadOf } from '../../ports/messages';
import {
  ModerationUnavailableError,
  type Moderation,
  type ModerationVerdict,
} from '../../ports/moderation';
import type { ObjectStore } from '../../ports/object-store';
import type { Scratch } from '../../ports/scratch';
import type { AssetPatch } from '../../ports/stores/asset-store';
import type { Stores } from '../../ports/unit-of-work';
import { consumeOnce, type Consumer } from '../consume';
import type { FlowContext } from '../flow-context';

export interface ValidateDeps {
  readonly objects: ObjectStore;
  readonly toolkit: MediaToolkit;
  readonly scratch: Scratch;
  readonly moderation: Moderation;
  readonly malware: MalwareScanner;
  readonly limits: MediaLimits;
}

type Judged =
  | {
      readonly kind: 'REJECTED';
      readonly code: string;
      readonly detail: string | null;
      readonly verdict: ModerationVerdict | null;
      /** What was found before the refusal; null: nothing could read it. */
      readonly facts: MediaFacts | null;
    }
  | { readonly kind: 'USABLE'; readonly facts: MediaFacts; readonly verdict: ModerationVerdict };

const NOT_DECLARED = 'the stored bytes are not the declared ones';

/**
 * Reads an uploaded file for what it is: magic number, header bounds, malware, moderation. Only then is it copied out of
 * quarantine, so that what is served is exactly what was scanned; the upload URL leads nowhere near the copy.
 */
export const createValidationConsumer =
  (context: FlowContext, deps: ValidateDeps): Consumer =>
  async (envelope) => {
    const { assetId } = payloadOf(envelope, 'asset.validation.requested');
    const asset = await context.uow.stores.assets.read(assetId);
    if (asset === null) throw new Error(`Asset ${assetId} is not there`);
    const judged = asset.status === 'VALIDATING' ? await judgeAndCopy(context, deps, asset) : null;
    crashpoint('upload.after_copy_before_db');
    const { consumed, result } = await consumeOnce(
      context,
      'asset-validator',
      envelope,
      async (tx) =>
        judged === null ? null : record(context, deps, tx, assetId, envelope.traceId, judged),
    );
    crashpoint('upload.after_db_before_cleanup');
    if (result?.quarantineKey === null && asset.quarantineKey !== null)
      await deps.objects.delete(asset.quarantineKey);
    crashpoint('upload.after_cleanup_before_ack');
    return consumed;
  };

/** A usable file is copied out of quarantine; a copy that is not what was declared and scanned is never served. */
const judgeAndCopy = async (
  context: FlowContext,
  deps: ValidateDeps,
  asset: Asset,
): Promise<Judged> => {
  const judged = await judge(context, deps, asset);
  if (judged.kind === 'REJECTED' || asset.quarantineKey === null) return judged;
  const copied = await deps.objects.copy(asset.quarantineKey, asset.objectKey);
  if (copied.outcome !== 'conflict' && copied.sha256 === asset.sha256) return judged;
  return {
    kind: 'REJECTED',
    code: 'UPLOAD_CHECKSUM_MISMATCH',
    detail: NOT_DECLARED,
    verdict: null,
    facts: null,
  };
};

const judge = async (context: FlowContext, deps: ValidateDeps, asset: Asset): Promise<Judged> =>
  deps.scratch.use(async (folder) => {
    const rejected = (
      code: string,
      detail: string | null,
      facts: MediaFacts | null = null,
    ): Judged => ({ kind: 'REJECTED', code, detail, verdict: null, facts });
    const key = asset.quarantineKey;
    // Of what came in parts nobody has read the whole yet.
    const proven = key === null ? null : await deps.objects.prove(key);
    if (proven !== null && proven.sha256 !== asset.sha256) {
      return rejected('UPLOAD_CHECKSUM_MISMATCH', NOT_DECLARED);
    }
    const stored = key === null || proven === null ? null : await deps.objects.getStream(key);
    if (stored === null) return rejected('UPLOAD_INCOMPLETE', 'the quarantined object is gone');
    const { path, sha256 } = await folder.save('upload', stored.body, deps.limits.sizeBytesMax);
    if (sha256 !== asset.sha256) return rejected('UPLOAD_CHECKSUM_MISMATCH', NOT_DECLARED);
    const probe = await deps.toolkit.probe(path, deps.limits);
    if (!probe.ok) return rejected(probe.refusal, probe.detail);
    const declaredKind = asset.kind === 'INPUT_IMAGE' ? 'image' : 'video';
    if (probe.facts.kind !== declaredKind) {
      return rejected(
        'UNSUPPORTED_TYPE',
        `declared ${asset.declaredMime ?? 'nothing'}, found ${probe.facts.mime}`,
      );
    }
    const scan = await deps.malware.scan(path);
    if (scan.kind === 'INFECTED') return rejected('MALWARE_FOUND', scan.signature, probe.facts);
    const verdict = await judgeContent(context, deps, asset, path, probe.facts);
    return verdict.verdict === 'REJECT'
      ? {
          kind: 'REJECTED',
          code: 'MODERATION_REJECTED',
          detail: verdict.reasonCode,
          verdict,
          facts: probe.facts,
        }
      : { kind: 'USABLE', facts: probe.facts, verdict };
  });

const judgeContent = async (
  context: FlowContext,
  deps: ValidateDeps,
  asset: Asset,
  path: string,
  facts: MediaFacts,
): Promise<ModerationVerdict> => {
  try {
    return await deps.moderation.judgeMedia({
      subject: 'ASSET',
      path,
      mime: facts.mime,
      fileName: asset.fileName,
      sha256: asset.sha256 ?? '',
    });
  } catch (error) {
    if (!(error instanceof ModerationUnavailableError)) throw error;
    context.log.warn('moderator is unavailable; the asset waits for a person', {
      assetId: asset.id,
    });
    return { verdict: 'REVIEW', reasonCode: 'MODERATOR_UNAVAILABLE' };
  }
};

const record = async (
  context: FlowContext,
  deps: ValidateDeps,
  tx: Stores,
  assetId: string,
  traceId: string,
  judged: Judged,
): Promise<Asset | null> => {
  const asset = await tx.assets.lock(assetId);
  if (asset === null || asset.status !== 'VALIDATING') return null;
  const now = context.clock.now();
  if (judged.verdict !== null) {
    await tx.moderation.record({
      id: context.ids.next(now),
      tenantId: asset.tenantId,
      subjectKind: 'ASSET',
      subjectId: asset.id,
      verdict: judged.verdict.verdict,
      reasonCode: judged.verdict.verdict === 'APPROVE' ? null : judged.verdict.reasonCode,
      rulesVersion: deps.moderation.rulesVersion,
      decidedBy: 'rules',
      now,
    });
  }
  const to =
    judged.kind === 'REJECTED'
      ? 'REJECTED'
      : judged.verdict.verdict === 'REVIEW'
        ? 'IN_REVIEW'
        : 'READY';
  const moved = await tx.assets.patch(asset, to, patchOf(judged), now);
  await tx.outbox.add(
    {
      type: 'asset',
      id: asset.id,
      version: moved.version,
      tenantId: asset.tenantId,
      traceId,
      causationId: null,
    },
    [
      {
        eventId: context.ids.next(now),
        type: 'asset.status.changed',
        payload: { assetId, status: to },
        availableAt: now,
      },
    ],
    now,
  );
  return moved;
};

/** What was rejected stays in quarantine for a while: a person may find that it was a false positive. */
const patchOf = (judged: Judged): AssetPatch =>
  judged.kind === 'REJECTED'
    ? {
        rejectionCode: judged.code,
        rejectionDetail: judged.detail,
        ...(judged.facts === null ? {} : factsPatch(judged.facts)),
      }
    : { quarantineKey: null, ...factsPatch(judged.facts) };

const factsPatch = (facts: MediaFacts): AssetPatch => ({
  detectedMime: facts.mime,
  durationMs: facts.durationMs,
  width: facts.width,
  height: facts.height,
  frameRateNum: facts.frameRate?.numerator ?? null,
  frameRateDen: facts.frameRate?.denominator ?? null,
  facts: { ...facts },
});
