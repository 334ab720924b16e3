import type { Consumed } from '../../../src/flow/consume';
import { runSchedulePass } from '../../../src/flow/schedule/run-scheduler';
import type { Delivery } from '../../../src/ports/message-bus';
import { CONSUMER_GROUPS, type ConsumerGroup, type Envelope } from '../../../src/ports/messages';
import type { Handlers } from './flow-consumers';
import type { FlowParts } from './flow-parts';

/** Longer than any test's clock jumps within one delivery, shorter than those that mean a lost worker. */
export const BUS_LEASE_MS = 15_000;
const ROUNDS_MAX = 60;

/** What an armed crash point throws in a test: the process is gone, nothing after it happens. */
export class SimulatedCrash extends Error {}

export interface Handled {
  readonly envelope: Envelope;
  readonly consumed: Consumed;
}

/** Moves messages when the test says so: no timers, no order of its own. */
export interface MessageDriver {
  /** Outbox to bus, everything due. Answers how many. */
  relay(): Promise<number>;
  /**
   * Runs the use case of each message that is due for the group, one after the other, as its worker would. A failure
   * hands the message back and is thrown; a simulated crash leaves it leased, as a dead worker does.
   */
  deliver(group: ConsumerGroup): Promise<Handled[]>;
  /** Each due message twice in a row: what both deliveries answered. */
  deliverTwice(group: ConsumerGroup): Promise<{ first: Consumed; second: Consumed }[]>;
  /** Each due message `times` times at once, as several workers of one group after a lease ran out. */
  deliverAtOnce(group: ConsumerGroup, times: number): Promise<Consumed[]>;
  /** Takes the due messages off the bus unread: they are lost. */
  lose(group: ConsumerGroup): Promise<Envelope[]>;
  /** Runs a message again, whatever the bus thinks of it. */
  replay(envelope: Envelope): Promise<Consumed>;
  /** Relays and delivers until nothing is due; groups in `except` keep their messages. */
  drain(except?: readonly ConsumerGroup[]): Promise<void>;
}

const GROUPS = Object.keys(CONSUMER_GROUPS) as ConsumerGroup[];

export const createMessageDriver = (parts: FlowParts, handlers: Handlers): MessageDriver => {
  const { bus, mover, clock } = parts;
  const signal = new AbortController().signal;

  const receive = (group: ConsumerGroup): Promise<Delivery[]> =>
    bus.receive(group, { max: 100, leaseMs: BUS_LEASE_MS, now: clock.now() });

  const handle = (group: ConsumerGroup, envelope: Envelope): Promise<Consumed> => {
    const handler = handlers[group][envelope.eventType];
    if (handler === undefined) throw new Error(`${group} does not read ${envelope.eventType}`);
    return handler(envelope, signal);
  };

  const answer = async (
    group: ConsumerGroup,
    delivery: Delivery,
    consumed: Consumed,
  ): Promise<void> => {
    if (consumed.kind === 'RETRY') {
      await bus.retryLater(group, delivery, consumed.at, consumed.reason);
    } else await bus.acknowledge(group, [delivery]);
  };

  const handleOne = async (group: ConsumerGroup, delivery: Delivery): Promise<Handled> => {
    try {
      const consumed = await handle(group, delivery.envelope);
      await answer(group, delivery, consumed);
      return { envelope: delivery.envelope, consumed };
    } catch (error) {
      if (!(error instanceof SimulatedCrash)) {
        await bus.retryLater(group, delivery, clock.now(), String(error));
      }
      throw error;
    }
  };

  const relay = async (): Promise<number> => {
    let moved = 0;
    for (;;) {
      const batch = await mover.moveBatch(clock.now(), 500);
      if (batch === 0) return moved;
      moved += batch;
    }
  };

  const deliver = async (group: ConsumerGroup): Promise<Handled[]> => {
    const handled: Handled[] = [];
    const deliveries = await receive(group);
    for (const [index, delivery] of deliveries.entries()) {
      try {
        handled.push(await handleOne(group, delivery));
      } catch (error) {
        // What stood behind the failed one is handed back, so that the test can go on.
        for (const rest of deliveries.slice(index + 1)) {
          await bus.retryLater(group, rest, clock.now(), 'not reached');
        }
        throw error;
      }
    }
    return handled;
  };

  return {
    relay,
    deliver,
    deliverTwice: async (group) => {
      const answers: { first: Consumed; second: Consumed }[] = [];
      for (const delivery of await receive(group)) {
        const first = await handle(group, delivery.envelope);
        const second = await handle(group, delivery.envelope);
        await answer(group, delivery, second);
        answers.push({ first, second });
      }
      return answers;
    },
    deliverAtOnce: async (group, times) => {
      const deliveries = await receive(group);
      const consumed = await Promise.all(
        deliveries.flatMap(({ envelope }) =>
          Array.from({ length: times }, () => handle(group, envelope)),
        ),
      );
      await bus.acknowledge(group, deliveries);
      return consumed;
    },
    lose: async (group) => {
      const deliveries = await receive(group);
      await bus.acknowledge(group, deliveries);
      return deliveries.map(({ envelope }) => envelope);
    },
    replay: (envelope) => {
      const group = GROUPS.find((each) => handlers[each][envelope.eventType] !== undefined);
      if (group === undefined) throw new Error(`nobody reads ${envelope.eventType}`);
      return handle(group, envelope);
    },
    drain: async (except = []) => {
      for (let round = 0; round < ROUNDS_MAX; round += 1) {
        let moved = await relay();
        for (const group of GROUPS.filter((each) => !except.includes(each))) {
          const handled = await deliver(group);
          moved += handled.filter(({ consumed }) => consumed.kind !== 'RETRY').length;
        }
        if (parts.takePassRequest()) {
          moved += (await runSchedulePass(parts.context, parts.schedule, 100)).dispatched;
        }
        if (moved === 0) return;
      }
      throw new Error(`messages are still moving after ${ROUNDS_MAX} rounds`);
    },
  };
};
