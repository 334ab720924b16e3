import { createHandOver } from '../../adapters/postgres/bus/hand-over';
import { createPostgresOutboxMover } from '../../adapters/postgres/bus/outbox-mover';
import { createPostgresBus } from '../../adapters/postgres/bus/postgres-bus';
import type { Pool } from '../../adapters/postgres';
import { createOutboxRelayStore } from '../../adapters/postgres/stores/outbox-relay-store';
import { createOutboxRelay } from '../../flow/relay/relay-outbox';
import { ringGroups } from '../../flow/relay/ring-groups';
import type { Clock } from '../../ports/clock';
import type { Log } from '../../ports/log';
import type { Bell, HandOver, MessageBus } from '../../ports/message-bus';
import type { OutboxMover } from '../../ports/stores/message-store';
import type { Config } from '../config';
import type { HealthChecks } from '../health/health-checks';

const DELIVERIES_MAX = 20;

export interface WiredBus {
  readonly bus: MessageBus;
  readonly mover: OutboxMover;
  close(): Promise<void>;
}

/** What carries messages from the outbox to the consumers, as the configuration says. */
export const wireBus = (options: {
  readonly config: Config;
  readonly facts: Pool;
  readonly rebuildable: Pool;
  readonly handOver: ReturnType<typeof createHandOver>;
  readonly bell: Bell;
  readonly clock: Clock;
  readonly log: Log;
  /** A bus that is no table of the database adds itself: `bus`, whose loss only degrades, since the outbox keeps. */
  readonly health: HealthChecks;
}): WiredBus => {
  const { config, facts, rebuildable, handOver, bell, log } = options;
  const bus = handOver.behind(
    createPostgresBus({ pool: rebuildable, log, deliveriesMax: DELIVERIES_MAX }),
  );
  return {
    bus,
    mover:
      config.outboxMover === 'relay'
        ? createOutboxRelay({
            store: createOutboxRelayStore(facts),
            bus,
            log,
            onMoved: ringGroups(bell),
          })
        : createPostgresOutboxMover({ pool: rebuildable, onMoved: ringGroups(bell) }),
    close: () => Promise.resolve(),
  };
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
