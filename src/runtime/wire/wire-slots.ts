import type { Pool } from '../../adapters/postgres';
import { createPostgresSlots } from '../../adapters/postgres/slots/postgres-slots';
import { createRedisSlots } from '../../adapters/redis/slots/redis-slots';
import type { FlowContext } from '../../flow/flow-context';
import { listSlotHolders } from '../../flow/schedule/list-slot-holders';
import type { Bell } from '../../ports/message-bus';
import type { Slots } from '../../ports/slots';
import { bells } from '../bells';
import type { Config } from '../config';
import type { WiredRedis } from './wire-redis';

/** From slot to commit takes milliseconds: by then whoever had a slot when Redis lost it is among the attempts. */
const SETTLE_MS = 2_000;

/** Concurrency slots, as the configuration says. */
export const wireSlots = (options: {
  readonly config: Config;
  readonly context: FlowContext;
  readonly rebuildable: Pool;
  readonly redis: WiredRedis | null;
  readonly bell: Bell;
}): Slots => {
  const { config, context, redis } = options;
  const inPostgres = createPostgresSlots({ pool: options.rebuildable });
  if (config.slots === 'postgres' || redis === null) return ringing(inPostgres, options.bell);
  const { stores } = context.uow;
  const inRedis = createRedisSlots({
    connection: redis.connection,
    prefix: redis.prefix,
    log: context.log,
    settleMs: SETTLE_MS,
    facts: {
      holders: () => listSlotHolders(context),
      endedAmong: (holders) => stores.attempts.listEndedAmong(holders),
    },
  });
  return ringing(emptying(inPostgres, inRedis), options.bell);
};

/** What Postgres counted before Redis took over runs out and goes. */
const emptying = (former: Slots, present: Slots): Slots => ({
  ...present,
  rebuild: async (holders, ttlMs, now) => {
    await former.rebuild([], ttlMs, now);
    return present.rebuild(holders, ttlMs, now);
  },
});

/** A freed slot is news for the scheduler. */
const ringing = (slots: Slots, bell: Bell): Slots => ({
  ...slots,
  release: async (holder, token, now) => {
    const released = await slots.release(holder, token, now);
    if (released) bell.ring(bells.slots);
    return released;
  },
});
