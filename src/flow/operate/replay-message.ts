import { refuse, type Refusal } from '../../domain/generation/refusals';
import type { MessageBus } from '../../ports/message-bus';
import {
  groupsOf,
  MESSAGE_TYPES,
  type ConsumerGroup,
  type MessageType,
} from '../../ports/messages';
import type { OutboxEvent } from '../../ports/stores/message-store';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import {
  act,
  done,
  type Acted,
  type Done,
  type OperatorOrder,
  type Subject,
} from './operator-action';

export type ReplayRefusal = 'NOT_DEAD' | 'ALREADY_HANDLED';
type ReplayBus = Pick<MessageBus, 'replayDead' | 'deadGroupsOf'>;

interface Replay {
  readonly eventId: string;
  /** Groups for which it was dead on the bus; empty: it had not left the outbox. */
  readonly groups: readonly ConsumerGroup[];
}

/**
 * Publishes a dead message again, under its own id, so that whoever has handled it meanwhile recognises it. One that died in the
 * outbox gets its tries back there; one that died on the bus is delivered again to the groups that gave it up.
 */
export const replayMessage = async (
  context: FlowContext,
  bus: ReplayBus,
  eventId: string,
  order: OperatorOrder,
): Promise<Acted<Replay, ReplayRefusal>> => {
  const dead = await bus.deadGroupsOf(eventId);
  const acted = await act(
    context,
    'message.replay',
    order,
    async (tx) => open(await tx.outbox.lock(eventId), dead),
    (tx, event) => judge(context, tx, event, dead),
  );
  if (acted.kind === 'REFUSED' || acted.result.groups.length === 0) return acted;
  // The bus need not be in the database: what is recorded is that it was asked, and asking again does no harm.
  const now = context.clock.now();
  const replayed = await Promise.all(
    acted.result.groups.map((group) => bus.replayDead(group, eventId, now)),
  );
  if (replayed.includes(true)) return acted;
  return act(
    context,
    'message.replay',
    order,
    async (tx) => open(await tx.outbox.lock(eventId), dead),
    () => Promise.resolve(refuse('NOT_DEAD', 'Somebody else has replayed it.', 'messageId')),
  );
};

const open = (
  event: OutboxEvent | null,
  dead: readonly ConsumerGroup[],
): Subject<OutboxEvent> | null =>
  event === null
    ? null
    : {
        kind: 'MESSAGE',
        id: event.id,
        tenantId: event.tenantId,
        before: { type: event.type, status: event.status, deadOnBus: dead },
        row: event,
      };

const judge = async (
  context: FlowContext,
  tx: Stores,
  event: OutboxEvent,
  dead: readonly ConsumerGroup[],
): Promise<Done<Replay> | Refusal<ReplayRefusal>> => {
  // Also what its readers have handled meanwhile: the inbox tells them, and the message ends.
  if (event.status === 'DEAD') {
    await tx.outbox.revive(event.id, context.clock.now());
    return done({ eventId: event.id, groups: [] }, { status: 'PENDING' });
  }
  if (dead.length > 0) {
    return done(
      { eventId: event.id, groups: dead },
      { status: event.status, deliveredAgainTo: dead },
    );
  }
  const readers = isKnown(event.type) ? groupsOf(event.type) : [];
  const handled = await tx.inbox.groupsThatHandled(event.id);
  return readers.length > 0 && readers.every((group) => handled.includes(group))
    ? refuse('ALREADY_HANDLED', 'Everybody who reads it has handled it.', 'messageId')
    : refuse('NOT_DEAD', `It is ${event.status} and nobody gave it up.`, 'messageId');
};

const isKnown = (type: string): type is MessageType =>
  (MESSAGE_TYPES as readonly string[]).includes(type);
