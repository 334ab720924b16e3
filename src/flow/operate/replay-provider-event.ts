import { refuse } from '../../domain/generation/refusals';
import type { MessageBus } from '../../ports/message-bus';
import type { ProviderEvent } from '../../ports/stores/provider-event-store';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import { requestObservation } from '../observe/request-observation';
import { act, done, type Acted, type OperatorOrder, type Subject } from './operator-action';

export type ProviderEventRefusal = 'ALREADY_HANDLED';

interface Replayed {
  readonly providerEventId: string;
  /** Of the message that came back under its own id; null: the reducer had read it, and reads the event anew. */
  readonly messageId: string | null;
}

/**
 * Hands a stored word of a provider (a callback, a poll's or a list's answer) to the reducer again, as the same event. One that
 * has found its attempt is done; one that had not, because its job was unknown then, is matched now.
 */
export const replayProviderEvent = async (
  context: FlowContext,
  bus: Pick<MessageBus, 'deliverNow'>,
  providerEventId: string,
  order: OperatorOrder,
): Promise<Acted<Replayed, ProviderEventRefusal>> => {
  const acted = await act(
    context,
    'provider_event.replay',
    order,
    openEvent(providerEventId),
    async (tx, event) => {
      if (event.matchedAt !== null) {
        return refuse(
          'ALREADY_HANDLED',
          `It was judged before: ${event.outcome ?? 'matched'}.`,
          'providerEventId',
        );
      }
      const type = 'provider.status.observed';
      const now = context.clock.now();
      const messageId = await tx.outbox.publishAgain([event.id], type, 'reducer', now, {
        dueNow: true,
      });
      if (messageId === null) await requestObservation(context, tx, event.id, null);
      return done({ providerEventId: event.id, messageId }, { asked: true, messageId });
    },
  );
  if (acted.kind === 'DONE' && acted.result.messageId !== null) {
    await bus.deliverNow('reducer', acted.result.messageId, context.clock.now());
  }
  return acted;
};

const openEvent =
  (providerEventId: string) =>
  async (tx: Stores): Promise<Subject<ProviderEvent> | null> => {
    const event = await tx.providerEvents.lock(providerEventId);
    if (event === null) return null;
    const attempt = event.attemptId === null ? null : await tx.attempts.read(event.attemptId);
    return {
      kind: 'PROVIDER_EVENT',
      id: event.id,
      tenantId: attempt?.tenantId ?? null,
      before: { jobId: event.jobId, attemptId: event.attemptId, outcome: event.outcome },
      row: event,
    };
  };
