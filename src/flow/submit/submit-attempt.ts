import type { Attempt } from '../../domain/attempt/attempt';
import type { Task } from '../../domain/generation/task';
import { crashpoint } from '../../ports/crash-points';
import { payloadOf, type Envelope } from '../../ports/messages';
import type { ObjectStore } from '../../ports/object-store';
import type { ProviderAccount, ProviderGateway, SubmitRequest } from '../../ports/provider-gateway';
import type { Slots } from '../../ports/slots';
import { APPLIED, consumeOnce, type Consumed, type Consumer } from '../consume';
import type { FlowContext } from '../flow-context';
import { freeSlotAfterCommit } from '../schedule/free-slot';
import { applyEvent, type Applied } from '../transition/apply-event';
import { recordSubmitOutcome } from './record-submit-outcome';

export interface ProviderDeps {
  readonly gatewayOf: (providerId: string) => ProviderGateway;
  /** The account as stored with the attempt, with its secret from the configuration; never today's routing. */
  readonly accountOf: (accountId: string) => Promise<ProviderAccount>;
  readonly objects: ObjectStore;
  readonly slots: Slots;
  /** This process: owner of the leases it takes. */
  readonly bootId: string;
}

type Opening =
  | { readonly kind: 'SEND'; readonly attempt: Attempt; readonly task: Task }
  | { readonly kind: 'DONE'; readonly consumed: Consumed; readonly applied: Applied | null };

/**
 * Sends one attempt to its provider: NEW → SENDING is committed before a byte leaves, the one POST happens outside any
 * transaction, and its typed outcome is committed after. A process that dies in between leaves SENDING behind, which is
 * never sent again: it becomes UNKNOWN and is resolved by asking the provider.
 */
export const createSubmitConsumer =
  (context: FlowContext, deps: ProviderDeps): Consumer =>
  async (envelope) => {
    const opening = await openSubmit(context, deps, envelope);
    if (opening.kind === 'DONE') {
      if (opening.applied !== null) await freeSlotAfterCommit(context, deps.slots, opening.applied);
      return opening.consumed;
    }
    crashpoint('submit.after_sending_before_http');
    const account = await deps.accountOf(opening.attempt.accountId);
    const request = await submitRequestOf(context, deps, opening.attempt);
    const outcome = await deps.gatewayOf(opening.attempt.providerId).submit(account, request);
    crashpoint('submit.after_http_before_db');
    const { consumed, result } = await consumeOnce(context, 'provider', envelope, (tx) =>
      recordSubmitOutcome(context, tx, opening.attempt, outcome),
    );
    if (result !== null) await freeSlotAfterCommit(context, deps.slots, result);
    crashpoint('submit.after_db_before_ack');
    return consumed;
  };

const openSubmit = async (
  context: FlowContext,
  deps: ProviderDeps,
  envelope: Envelope,
): Promise<Opening> => {
  const { taskId, attemptId } = payloadOf(envelope, 'attempt.dispatch.requested');
  return context.uow.transact<Opening>(async (tx) => {
    const now = context.clock.now();
    const task = await tx.tasks.lock(taskId);
    const attempt = await tx.attempts.lock(attemptId);
    if (task === null || attempt === null) throw new Error(`Attempt ${attemptId} is not there`);
    if (attempt.status === 'NEW' && task.status === 'DISPATCHING') {
      const sending = await tx.attempts.patch(
        attempt,
        'SENDING',
        {
          sentAt: now,
          leaseOwner: deps.bootId,
          leaseUntil: new Date(now.getTime() + context.settings.submitLeaseMs),
        },
        now,
      );
      return { kind: 'SEND', attempt: sending, task };
    }
    if (attempt.status === 'SENDING' && attempt.leaseUntil !== null && attempt.leaseUntil > now) {
      const consumed: Consumed = {
        kind: 'RETRY',
        at: attempt.leaseUntil,
        reason: 'another worker is sending',
      };
      return { kind: 'DONE', consumed, applied: null };
    }
    if (!(await tx.inbox.enter('provider', envelope.eventId, now))) {
      return { kind: 'DONE', consumed: { kind: 'DUPLICATE' }, applied: null };
    }
    const event = attempt.status === 'SENDING' ? 'lease_lost' : 'never_sent';
    const applies =
      attempt.status === 'SENDING' ||
      (attempt.status === 'NEW' && task.status === 'CANCEL_REQUESTED');
    const applied = applies
      ? await applyEvent(context, tx, {
          task,
          attempt,
          event: { type: event },
          origin: { source: 'worker' },
        })
      : null;
    return { kind: 'DONE', consumed: APPLIED, applied };
  });
};

const submitRequestOf = async (
  context: FlowContext,
  deps: ProviderDeps,
  attempt: Attempt,
): Promise<SubmitRequest> => {
  const { sent } = attempt;
  return {
    attemptId: attempt.id,
    requestKey: attempt.requestKey,
    model: attempt.model,
    prompt: sent.prompt,
    negativePrompt: sent.negativePrompt,
    seed: sent.seed,
    aspectRatio: sent.aspectRatio,
    resolution: sent.resolution,
    durationMs: sent.durationMs,
    withAudio: sent.withAudio,
    imageUrl:
      sent.imageAssetId === null ? null : await imageUrlOf(context, deps, sent.imageAssetId),
    callbackUrl: attempt.callbackUrl,
    options: sent.options,
  };
};

const imageUrlOf = async (
  context: FlowContext,
  deps: ProviderDeps,
  assetId: string,
): Promise<string> => {
  const asset = await context.uow.stores.assets.read(assetId);
  if (asset === null) throw new Error(`Input asset ${assetId} is gone`);
  const now = context.clock.now();
  return deps.objects.presignGet(asset.objectKey, {
    now,
    expiresAt: new Date(now.getTime() + context.settings.downloadTicketMs),
  });
};
