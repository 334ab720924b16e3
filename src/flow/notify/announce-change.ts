import { crashpoint } from '../../ports/crash-points';
import { payloadOf, type Envelope } from '../../ports/messages';
import type { PubSub } from '../../ports/pub-sub';
import { APPLIED, type Consumer } from '../consume';
import type { FlowContext } from '../flow-context';

/** Topics of the fan-out. A subscriber reads Postgres when its topic is rung. */
export const topics = {
  generation: (taskId: string): string => `generation:${taskId}`,
  asset: (assetId: string): string => `asset:${assetId}`,
  tenant: (tenantId: string): string => `tenant:${tenantId}`,
} as const;

/**
 * Tells whoever listens that a row changed. Never a source of facts: a notification that is lost with a crash is made up by the
 * subscriber's own slow look at Postgres.
 */
export const createNotificationConsumer =
  (context: FlowContext, pubSub: PubSub): Consumer =>
  async (envelope) => {
    // The dedup row is all there is to commit: one statement, which those of the same moment share.
    const { inbox } = context.uow.stores;
    const first = await inbox.enter('notification', envelope.eventId, context.clock.now());
    crashpoint('notify.before_publish');
    if (first) await publish(pubSub, envelope);
    crashpoint('notify.after_publish_before_ack');
    return first ? APPLIED : { kind: 'DUPLICATE' };
  };

const publish = async (pubSub: PubSub, envelope: Envelope): Promise<void> => {
  if (envelope.eventType === 'asset.status.changed') {
    const payload = payloadOf(envelope, 'asset.status.changed');
    await pubSub.publish(topics.asset(payload.assetId), { ...payload });
    return;
  }
  const payload = payloadOf(envelope, 'task.status.changed');
  await Promise.all([
    pubSub.publish(topics.generation(payload.taskId), { ...payload }),
    ...(envelope.tenantId === null
      ? []
      : [pubSub.publish(topics.tenant(envelope.tenantId), { ...payload })]),
  ]);
};
