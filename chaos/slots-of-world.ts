import { createPostgresSlots } from '../src/adapters/postgres/slots/postgres-slots';
import { createRedisConnection } from '../src/adapters/redis/redis-connection';
import { readHeldSlots } from '../src/adapters/redis/slots/held-slots';
import { createRedisSlots } from '../src/adapters/redis/slots/redis-slots';
import type { Log } from '../src/ports/log';
import type { Slots } from '../src/ports/slots';
import type { World } from './open-world';

export interface Lease {
  readonly holder: string;
  readonly token: bigint;
}

export interface SlotsOfWorld {
  readonly slots: Pick<Slots, 'release'>;
  /** What is held now. */
  leases(): Promise<readonly Lease[]>;
}

/** Slots where the product under test has them, asked past the product. */
export const withSlots = async <T>(
  { config, pool }: Pick<World, 'config' | 'pool'>,
  work: (of: SlotsOfWorld) => Promise<T>,
): Promise<T> => {
  if (config.slots !== 'redis' || config.redis === null) {
    return work({
      slots: createPostgresSlots({ pool }),
      leases: async () => {
        const { rows } = await pool.query<{ holder: string; token: string }>(
          'SELECT holder, token::text AS token FROM slot_leases',
        );
        return rows.map(({ holder, token }) => ({ holder, token: BigInt(token) }));
      },
    });
  }
  const { url, prefix } = config.redis;
  const connection = createRedisConnection({ url, name: 'aivedio-chaos', log: SILENT });
  const nobody = (): Promise<readonly never[]> => Promise.resolve([]);
  try {
    return await work({
      slots: createRedisSlots({
        ...{ connection, prefix, log: SILENT, settleMs: 0 },
        facts: { holders: nobody, endedAmong: nobody },
      }),
      leases: async () =>
        (await readHeldSlots(connection, prefix)).flatMap(({ kind, reference, id }) =>
          kind === 'slot_lease' ? [{ holder: reference ?? '', token: BigInt(id ?? '0') }] : [],
        ),
    });
  } finally {
    await connection.close();
  }
};

/** Of a lease that lives: whether an earlier token gives it back, which it must not. Null: none lives at present. */
export const releaseByStaleToken = (
  world: Pick<World, 'config' | 'pool'>,
): Promise<boolean | null> =>
  withSlots(world, async ({ slots, leases }) => {
    const held = await leases();
    const { rows } = await world.pool.query<{ id: string }>(
      'SELECT id FROM task_attempts WHERE completed_at IS NULL AND id::text = ANY ($1::text[])',
      [held.map(({ holder }) => holder)],
    );
    const living = new Set(rows.map(({ id }) => id));
    const [latest] = held
      .filter(({ holder }) => living.has(holder))
      .sort((one, other) => (one.token < other.token ? 1 : -1));
    if (latest === undefined) return null;
    return slots.release(latest.holder, latest.token - 1n, new Date());
  });

const SILENT: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => SILENT,
};
