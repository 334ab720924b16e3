import { moneyKnown } from '../domain/billing/money-known';
import { failureMessageOf, nextActionsOf, toFailureCode } from '../domain/generation/failures';
import { isTerminal } from '../domain/generation/statuses';
import type { Task } from '../domain/generation/task';
import type { Asset, AssetKind } from '../domain/output/asset';
import { callerOf, type ApiContext } from './api-context';
import type {
  GenerationCancelState,
  GenerationFailure,
  GenerationMoney,
  GenerationWaiting,
  Playback,
} from './generation-parts';
import { A_PERSON_DECIDES, NEXT_STEPS } from './generation-words';
import { signUrl } from './signed-url';

const keyOf = ({ tenantId, id }: Task) => ({ tenantId, id });

export const moneyOf = async (
  { loaders, deps }: ApiContext,
  task: Task,
): Promise<GenerationMoney> => {
  const [entries, attempts] = await Promise.all([
    loaders.ledgerOfTask.load(keyOf(task)),
    loaders.attemptsOfTask.load(keyOf(task)),
  ]);
  return moneyKnown(entries, attempts, isTerminal(task.status), deps.context.clock.now());
};

export const failureOf = async (
  context: ApiContext,
  task: Task,
): Promise<GenerationFailure | null> => {
  if (task.status !== 'FAILED_FINAL' && task.status !== 'EXPIRED') return null;
  const fallback = task.status === 'EXPIRED' ? 'DEADLINE_PASSED' : 'GENERATION_FAILED';
  const code = toFailureCode(task.lastErrorCode ?? fallback);
  const [money, balance] = await Promise.all([
    moneyOf(context, task),
    context.loaders.balanceOfTenant.load(task.tenantId),
  ]);
  const nextActions = nextActionsOf(code, {
    outcomeOpen: money.state === 'UNKNOWN',
    isOperator: callerOf(context).scopes.includes('operator'),
    canPay: (balance?.availableMicros ?? 0n) >= task.priceMicros,
  });
  return { code, message: failureMessageOf(code), money, nextActions };
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
  if (task.needsOperator) return A_PERSON_DECIDES;
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
