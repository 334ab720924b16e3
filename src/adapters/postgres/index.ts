export { createPool } from './pool';
export type { PoolOptions } from './pool';
export { createPrisma } from './prisma-client';
export { createOutboxRelayStore } from './stores/outbox-relay-store';
export { createPartitionStore } from './stores/partition-store';
export { createUnitOfWork, OUTBOX_BELL } from './unit-of-work';
