import type { Task } from '../domain/generation/task';
import type { Asset, AssetKind } from '../domain/output/asset';
import type { ApiContext } from './api-context';
import type {
  GenerationCancelState,
  GenerationFailure,
  GenerationMoney,
  GenerationWaiting,
  Playback,
} from './generation-parts';
import { failureTextOf, NEXT_STEPS } from './generation-words';
import { signUrl } from './signed-url';

const keyOf = ({ tenantId, id }: Task) => ({ tenantId, id });

export const moneyOf = async ({ loaders }: ApiContext, task: Task): Promise<GenerationMoney> => {
  const hold = await loaders.holdOfTask.load(keyOf(task));
  if (hold === null) return { held: 0n, charged: 0n, returned: 0n };
  if (hold.status === 'OPEN') return { held: hold.amountMicros, charged: 0n, returned: 0n };
  const charged = hold.settledMicros ?? 0n;
  return { held: 0n, charged, returned: hold.amountMicros - charged };
};

export const failureOf = async (
  context: ApiContext,
  task: Task,
): Promise<GenerationFailure | null> => {
  if (task.status !== 'FAILED_FINAL' && task.status !== 'EXPIRED') return null;
  const code =
    task.lastErrorCode ?? (task.status === 'EXPIRED' ? 'DEADLINE_PASSED' : 'GENERATION_FAILED');
  return { code, ...failureTextOf(code), money: await moneyOf(context, task) };
};

export const cancelStateOf = (task: Task): GenerationCancelState | null =>
  task.cancelRequestedAt === null
    ? null
    : {
        requestedAt: task.cancelRequestedAt,
        reason: task.cancelReason,
        outcome: task.cancelOutcome,
      };

export const waitingOf = async (
  { loaders }: ApiContext,
  task: Task,
): Promise<GenerationWaiting | null> => {
  const since = task.waitingSince ?? task.createdAt;
  if (task.status === 'VALIDATING') return { reason: 'REVIEW', since, position: null, until: null };
  if (task.status !== 'QUEUED' && task.status !== 'RETRY_WAIT') return null;
  return {
    reason: task.waitReason ?? task.status,
    since,
    position: await loaders.waitingPlaceOfTask.load(keyOf(task)),
    until: task.nextRetryAt,
  };
};

export const nextStepOf = async (context: ApiContext, task: Task): Promise<string> => {
  if (task.status !== 'SUCCEEDED') return NEXT_STEPS[task.status];
  const outputs = await context.loaders.outputsOfTask.load(keyOf(task));
  return outputs.some(({ status }) => status === 'IN_REVIEW')
    ? 'A person looks at the output before it may be played.'
    : NEXT_STEPS.SUCCEEDED;
};

export const playbackOf = async (context: ApiContext, task: Task): Promise<Playback | null> => {
  if (task.status !== 'SUCCEEDED') return null;
  const outputs = await context.loaders.outputsOfTask.load(keyOf(task));
  const proxy = readyOf(outputs, 'PROXY');
  if (proxy === null) return null;
  const urlOf = async (kind: AssetKind): Promise<string | null> => {
    const asset = readyOf(outputs, kind);
    return asset === null ? null : (await signUrl(context.deps, asset)).url;
  };
  const [{ url, expiresAt }, hlsUrl, thumbnailUrl] = await Promise.all([
    signUrl(context.deps, proxy),
    urlOf('HLS'),
    urlOf('THUMBNAIL'),
  ]);
  return { url, hlsUrl, thumbnailUrl, expiresAt };
};

/** The latest one: a corrupt raw file may have been fetched, and derived from, again. */
const readyOf = (outputs: readonly Asset[], kind: AssetKind): Asset | null =>
  outputs.findLast((asset) => asset.kind === kind && asset.status === 'READY') ?? null;
