import type { Pool } from '../../adapters/postgres';
import { createPostgresSlots } from '../../adapters/postgres/slots/postgres-slots';
import type { Bell } from '../../ports/message-bus';
import type { Slots } from '../../ports/slots';
import { bells } from '../bells';
import type { HealthChecks } from '../health/health-checks';

/** Concurrency slots, as the configuration says. */
export const wireSlots = (options: {
  readonly rebuildable: Pool;
  readonly bell: Bell;
  /** Slots beside the database add themselves as `slots`. */
  readonly health: HealthChecks;
}): Slots => ringing(createPostgresSlots({ pool: options.rebuildable }), options.bell);

/** A freed slot is news for the scheduler. */
const ringing = (slots: Slots, bell: Bell): Slots => ({
  ...slots,
  release: async (holder, token, now) => {
    const released = await slots.release(holder, token, now);
    if (released) bell.ring(bells.slots);
    return released;
  },
});
