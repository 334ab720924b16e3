import { createHandOver } from '../../adapters/postgres/bus/hand-over';
import type { LookBounds } from '../../adapters/postgres/bus/look-bounds';
import { createPostgresOutboxMover } from '../../adapters/postgres/bus/outbox-mover';
import { createPostgresBus } from '../../adapters/postgres/bus/postgres-bus';
import type { Pool } from '../../adapters/postgres';
import { createOutboxRelayStore } from '../../adapters/postgres/stores/outbox-relay-store';
import { createRocketmqBus } from '../../adapters/rocketmq/rocketmq-bus';
import { RETRY_BUDGETS } from '../../domain/scheduling/retry-budget';
import { createOutboxRelay } from '../../flow/relay/relay-outbox';
import { ringGroups } from '../../flow/relay/ring-groups';
import type { Clock } from '../../ports/clock';
import type { Log } from '../../ports/log';
import type { Bell, HandOver, MessageBus } from '../../ports/message-bus';
import type { OutboxMover } from '../../ports/stores/message-store';
import type { ConsumerGroup } from '../../ports/messages';
import type { GroupLag } from '../../ports/waiting-messages';
import type { Config } from '../config';
import type { HealthChecks } from '../health/health-checks';

const DELIVERIES_MAX = RETRY_BUDGETS.notify.triesMax;

export interface WiredBus {
  readonly bus: MessageBus;
  readonly mover: OutboxMover;
  /** How far each group is behind, as far as this process and the database can tell. */
  lag(now: Date): Promise<readonly GroupLag[]>;
  /** Says in the log what of it is out of reach. */
  checkAtStart(): Promise<void>;
  close(): Promise<void>;
}

/** What carries messages from the outbox to the consumers, as the configuration says. */
export const wireBus = (options: {
  readonly config: Config;
  readonly facts: Pool;
  readonly rebuildable: Pool;
  readonly looks: LookBounds;
  readonly handOver: ReturnType<typeof createHandOver>;
  readonly bell: Bell;
  readonly clock: Clock;
  readonly log: Log;
  /** A bus that is no table of the database adds itself: `bus`, whose loss only degrades, since the outbox keeps. */
  readonly health: HealthChecks;
  /** Wakes the loops of this process that read for a group. */
  readonly wakeGroup: (group: ConsumerGroup) => void;
}): WiredBus => {
  const { config, facts, rebuildable, looks, handOver, bell, log } = options;
  const table = createPostgresBus({
    ...{ pool: rebuildable, keepPool: facts, looks, log },
    deliveriesMax: DELIVERIES_MAX,
  });
  const relayTo = (bus: MessageBus, onMoved?: ReturnType<typeof ringGroups>): OutboxMover =>
    createOutboxRelay({
      ...{ store: createOutboxRelayStore(facts, looks), bus, log },
      ...(onMoved === undefined ? {} : { onMoved }),
    });
  if (config.bus === 'postgres') {
    const bus = handOver.behind(table);
    return {
      bus,
      mover:
        config.outboxMover === 'relay'
          ? relayTo(bus, ringGroups(bell))
          : createPostgresOutboxMover({ pool: rebuildable, looks, onMoved: ringGroups(bell) }),
      lag: table.lag,
      checkAtStart: () => Promise.resolve(),
      close: () => Promise.resolve(),
    };
  }
  const { endpoints, prefix, credentials } = config.rocketmq;
  const rocketmq = createRocketmqBus({
    // Without endpoints the configuration was refused.
    ...{ endpoints: endpoints ?? '', prefix, credentials, log, clock: options.clock },
    waiting: table,
    deliveriesMax: DELIVERIES_MAX,
    onArrival: options.wakeGroup,
  });
  options.health.add({ name: 'bus', weight: 'DEGRADING', check: rocketmq.health });
  const bus = handOver.behind(rocketmq);
  const { lag, checkAtStart, close } = rocketmq;
  return { bus, mover: relayTo(bus), lag, checkAtStart, close };
};

export const wireHandOver = (options: {
  readonly config: Config;
  readonly rebuildable: Pool;
  readonly clock: Clock;
  readonly log: Log;
}): ReturnType<typeof createHandOver> & HandOver =>
  createHandOver({
    pool: options.rebuildable,
    clock: options.clock,
    log: options.log,
    leaseMs: options.config.busLeaseMs,
  });
