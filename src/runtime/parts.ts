import type { Consumer } from '../flow/consume';
import type { ConsumerGroup, MessageType } from '../ports/messages';
import { bells } from './bells';
import type { Container } from './container';
import { startConsumer } from './consumer';
import { startLoop, type Round, type RunningLoop } from './loop';

const SLOW_POLL_MS = 1_500;
/** Of a loop that another one wakes when something is due. */
const WATCHED_POLL_MS = 30_000;

const slowPollMs = (container: Container, alone: number): number =>
  container.looksTogether ? WATCHED_POLL_MS : alone;

/** A consumer of the container's bus with the house's defaults. */
export const consume = (
  container: Container,
  group: ConsumerGroup,
  concurrency: number,
  handlers: Partial<Record<MessageType, Consumer>>,
): RunningLoop =>
  startConsumer({
    group,
    handlers,
    bus: container.bus,
    clock: container.context.clock,
    random: container.context.random,
    log: container.log,
    metrics: container.metrics,
    tracing: container.tracing,
    listen: (wake) => container.bell.listen(bells.group(group), wake),
    ...(container.looksTogether ? { handOver: container.handOver } : {}),
    concurrency,
    leaseMs: container.config.busLeaseMs,
    slowPollMs: slowPollMs(container, SLOW_POLL_MS),
    drainMs: container.config.drainMs,
  });

/** A loop of the container with the house's defaults; `channel` null: only the slow poll wakes it. */
export const loop = (
  container: Container,
  name: string,
  channel: string | null,
  everyMs: number,
  round: () => Promise<Round>,
): RunningLoop =>
  startLoop({
    name,
    round,
    listen: (wake) =>
      channel === null
        ? Promise.resolve(() => Promise.resolve())
        : container.bell.listen(channel, wake),
    slowPollMs: channel === null ? everyMs : slowPollMs(container, everyMs),
    now: () => container.context.clock.now(),
    log: container.log,
  });
