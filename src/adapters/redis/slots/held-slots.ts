import { z } from 'zod';

import type { Evidence } from '../../../ports/verification';
import type { RedisConnection } from '../redis-connection';
import { slotKeysOf } from './slot-keys';

/** As the scripts write it: token, expiry in ms of the callers' clocks, scopes. Lua writes an empty list as an empty object. */
const LEASE = z.object({
  t: z.string(),
  e: z.coerce.number(),
  s: z.union([z.array(z.string()), z.object({}).transform((): string[] => [])]),
});

/** What Redis holds of slots at one instant: leases, what they count for, and how many it counts of how many. */
export const readHeldSlots = async (
  connection: RedisConnection,
  prefix: string,
): Promise<readonly Evidence[]> => {
  const keys = slotKeysOf(prefix);
  const answers = await connection.call((redis) =>
    redis.multi().hgetall(keys.leases).hgetall(keys.used).hgetall(keys.limits).exec(),
  );
  const [leases = {}, used = {}, limits = {}] = (answers ?? []).map(([error, answer]) => {
    if (error !== null) throw error;
    return answer as Readonly<Record<string, string>>;
  });
  return [
    ...Object.entries(leases).flatMap(([holder, text]) => evidenceOfLease(holder, text)),
    ...Object.entries(used).map(([scope, count]) => evidenceOfScope('slots_used', scope, count)),
    ...Object.entries(limits).map(([scope, max]) => evidenceOfScope('slots_limit', scope, max)),
  ];
};

const evidenceOfLease = (holder: string, text: string): Evidence[] => {
  const { t, e, s } = LEASE.parse(JSON.parse(text));
  return [
    { kind: 'slot_lease', id: t, reference: holder, amount: null, at: new Date(e) },
    ...s.map((scope): Evidence => ({
      kind: 'slot_lease_scope',
      id: holder,
      reference: scope,
      amount: null,
      at: null,
    })),
  ];
};

const evidenceOfScope = (
  kind: 'slots_used' | 'slots_limit',
  scope: string,
  amount: string,
): Evidence => ({ kind, id: null, reference: scope, amount, at: null });
