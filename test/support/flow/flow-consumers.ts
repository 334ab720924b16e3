import { createCostConsumer } from '../../../src/flow/bill/record-provider-cost';
import { createSettlementConsumer } from '../../../src/flow/bill/settle-later';
import type { Consumer } from '../../../src/flow/consume';
import { createFetchConsumer } from '../../../src/flow/fetch/fetch-output';
import { createMediaConsumer } from '../../../src/flow/media/process-media';
import { createNotificationConsumer } from '../../../src/flow/notify/announce-change';
import { createReconcileConsumer } from '../../../src/flow/reconcile/resolve-unknown';
import { createReducer } from '../../../src/flow/reduce/reduce-observation';
import { createQueuedConsumer } from '../../../src/flow/schedule/run-scheduler';
import { createCancelConsumer } from '../../../src/flow/submit/cancel-job';
import { createSubmitConsumer } from '../../../src/flow/submit/submit-attempt';
import { createValidationConsumer } from '../../../src/flow/upload/validate-asset';
import type { ConsumerGroup, MessageType } from '../../../src/ports/messages';
import type { FlowParts } from './flow-parts';

export type Handlers = Readonly<Record<ConsumerGroup, Partial<Record<MessageType, Consumer>>>>;

/** Who handles what, as the workers' entry points say it. */
export const createHandlers = (parts: FlowParts): Handlers => {
  const { context, slots, provider } = parts;
  const announce = createNotificationConsumer(context, parts.pubSub);
  return {
    'asset-validator': {
      'asset.validation.requested': createValidationConsumer(context, parts.validate),
    },
    scheduler: { 'generation.queued': createQueuedConsumer(context, parts.schedule) },
    provider: {
      'attempt.dispatch.requested': createSubmitConsumer(context, provider),
      'attempt.cancel.requested': createCancelConsumer(context, provider),
    },
    reducer: { 'provider.status.observed': createReducer(context, slots) },
    'output-fetch': { 'output.fetch.requested': createFetchConsumer(context, parts.fetch) },
    media: { 'media.process.requested': createMediaConsumer(context, parts.media) },
    notification: { 'task.status.changed': announce, 'asset.status.changed': announce },
    billing: {
      'billing.cost.observed': createCostConsumer(context),
      'billing.settlement.requested': createSettlementConsumer(context),
    },
    reconciler: { 'attempt.reconcile.requested': createReconcileConsumer(context, provider) },
  };
};
