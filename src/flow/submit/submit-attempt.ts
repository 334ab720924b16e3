import type { Attempt } from '../../domain/attempt/attempt';
import type { Task } from '../../domain/generation/task';
import { crashpoint } from '../../ports/crash-points';
import { payloadOf, type Envelope } from '../../ports/messages';
import type { ObjectStore } from '../../ports/object-store';
import type { ProviderAccount, ProviderGateway, SubmitRequest } from '../../ports/provider-gateway';
import type { Slots } from '../../ports/slots';
import type { Stores } from '../../ports/unit-of-work';
import { APPLIED, type Consumed, type Consumer } from '../consume';
import type { FlowContext } from '../flow-context';
import { freeSlotAfterCommit } from '../schedule/free-slot';
import { together } from '../together';
import { applyEvent, type Applied } from '../transition/apply-event';
import { askBeforeSending, forgottenOf, type Forgotten } from './ask-before-sending';
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

/** What is needed to send an attempt: made before it is marked as being sent, so that a failure here leaves it NEW. */
type Parcel =
  | {
      readonly kind: 'READY';
      readonly account: ProviderAccount;
      readonly request: SubmitRequest;
    }
  | { readonly kind: 'INPUT_WITHDRAWN' }
  /** Nothing is to be sent: the message is a repeat, or comes too late. */
  | { readonly kind: 'NONE' };

type Opening =
  | {
      readonly kind: 'SEND';
      readonly attempt: Attempt;
      readonly parcel: Extract<Parcel, { kind: 'READY' }>;
      /** Null: nobody can have sent this before. */
      readonly forgotten: Forgotten | null;
    }
  | { readonly kind: 'DONE'; readonly consumed: Consumed; readonly applied: Applied | null };

/**
 * Sends one attempt to its provider: NEW → SENDING is committed before a byte leaves, the one POST happens outside any
 * transaction, and its typed outcome is committed after. A process that dies in between leaves SENDING behind, which is
 * never sent again: it becomes UNKNOWN and is resolved by asking the provider.
 */
export const createSubmitConsumer =
  (context: FlowContext, deps: ProviderDeps): Consumer =>
  async (envelope) => {
    const { attemptId } = payloadOf(envelope, 'attempt.dispatch.requested');
    const parcel = await pack(context, deps, attemptId);
    const opening = await openSubmit(context, deps, envelope, parcel);
    if (opening.kind === 'DONE') {
      if (opening.applied !== null) await freeSlotAfterCommit(context, deps.slots, opening.applied);
      return opening.consumed;
    }
    crashpoint('submit.after_sending_before_http');
    const { account, request } = opening.parcel;
    const { attempt, forgotten } = opening;
    const gateway = deps.gatewayOf(attempt.providerId);
    const doubt =
      forgotten === null
        ? null
        : await askBeforeSending(context, gateway, account, attempt, forgotten);
    const outcome = doubt ?? (await gateway.submit(account, request));
    crashpoint('submit.after_http_before_db');
    const [first, applied] = await context.uow.transact(
      (tx) =>
        together(
          tx.inbox.enter('provider', envelope.eventId, context.clock.now()),
          // Not only the first time: whoever took the lease over meanwhile has closed the message, but never knew this answer.
          recordSubmitOutcome(context, tx, attempt, outcome),
        ),
      { line: 'submit.record', subject: envelope.aggregateId },
    );
    if (applied !== null) await freeSlotAfterCommit(context, deps.slots, applied);
    crashpoint('submit.after_db_before_ack');
    return first ? APPLIED : { kind: 'DUPLICATE' };
  };

const pack = async (
  context: FlowContext,
  deps: ProviderDeps,
  attemptId: string,
): Promise<Parcel> => {
  const attempt = await context.uow.stores.attempts.read(attemptId);
  if (attempt === null) throw new Error(`Attempt ${attemptId} is not there`);
  if (attempt.status !== 'NEW') return { kind: 'NONE' };
  const imageUrl = await imageUrlOf(context, deps, attempt.sent.imageAssetId);
  if (imageUrl === 'WITHDRAWN') return { kind: 'INPUT_WITHDRAWN' };
  const account = await deps.accountOf(attempt.accountId);
  return { kind: 'READY', account, request: submitRequestOf(attempt, imageUrl) };
};

const openSubmit = async (
  context: FlowContext,
  deps: ProviderDeps,
  envelope: Envelope,
  parcel: Parcel,
): Promise<Opening> => {
  const { taskId, attemptId } = payloadOf(envelope, 'attempt.dispatch.requested');
  return context.uow.transact<Opening>(
    async (tx) => {
      const now = context.clock.now();
      const [task, attempt, restoredAt] = await Promise.all([
        tx.tasks.lock(taskId),
        tx.attempts.lock(attemptId),
        tx.lives.restoredAt(now),
      ]);
      if (task === null || attempt === null) throw new Error(`Attempt ${attemptId} is not there`);
      const mayBeSent = attempt.status === 'NEW' && task.status === 'DISPATCHING';
      if (mayBeSent && parcel.kind === 'READY') {
        const leaseUntil = new Date(now.getTime() + context.settings.submitLeaseMs);
        const lease = { sentAt: now, leaseOwner: deps.bootId, leaseUntil };
        const sending = await tx.attempts.patch(attempt, 'SENDING', lease, now);
        return { kind: 'SEND', attempt: sending, parcel, forgotten: forgottenOf(task, restoredAt) };
      }
      if (attempt.status === 'SENDING' && attempt.leaseUntil !== null && attempt.leaseUntil > now) {
        const reason = 'another worker is sending';
        return {
          kind: 'DONE',
          consumed: { kind: 'RETRY', at: attempt.leaseUntil, reason },
          applied: null,
        };
      }
      if (!(await tx.inbox.enter('provider', envelope.eventId, now))) {
        return { kind: 'DONE', consumed: { kind: 'DUPLICATE' }, applied: null };
      }
      const applied = await closeUnsent(context, tx, task, attempt, parcel);
      return { kind: 'DONE', consumed: APPLIED, applied };
    },
    { line: 'submit.open', subject: taskId },
  );
};

/** What becomes of an attempt that this message does not send; null when there is nothing to do. */
const closeUnsent = async (
  context: FlowContext,
  tx: Stores,
  task: Task,
  attempt: Attempt,
  parcel: Parcel,
): Promise<Applied | null> => {
  const origin = { source: 'worker' as const };
  if (attempt.status === 'SENDING') {
    return applyEvent(context, tx, { task, attempt, event: { type: 'lease_lost' }, origin });
  }
  if (attempt.status !== 'NEW') return null;
  if (task.status === 'CANCEL_REQUESTED') {
    return applyEvent(context, tx, { task, attempt, event: { type: 'never_sent' }, origin });
  }
  if (task.status !== 'DISPATCHING' || parcel.kind !== 'INPUT_WITHDRAWN') return null;
  return applyEvent(context, tx, {
    task,
    attempt,
    event: { type: 'submit_rejected', mayRetry: false, charged: false },
    origin,
    error: { class: 'SCHEDULING', code: 'INPUT_WITHDRAWN' },
  });
};

const submitRequestOf = (attempt: Attempt, imageUrl: string | null): SubmitRequest => {
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
    imageUrl,
    callbackUrl: attempt.callbackUrl,
    options: sent.options,
  };
};

const imageUrlOf = async (
  context: FlowContext,
  deps: ProviderDeps,
  assetId: string | null,
): Promise<string | null | 'WITHDRAWN'> => {
  if (assetId === null) return null;
  const asset = await context.uow.stores.assets.read(assetId);
  if (asset?.status !== 'READY') return 'WITHDRAWN';
  const now = context.clock.now();
  return deps.objects.presignGet(asset.objectKey, {
    now,
    expiresAt: new Date(now.getTime() + context.settings.downloadTicketMs),
  });
};
