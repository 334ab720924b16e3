// Prisma is not here: `./prisma-client` is for the API and the operator console, and costs a worker memory and time.
export { createPool } from './pool';
export type { Pool } from 'pg';
export type { PoolOptions } from './pool';
export { createUnitOfWork, OUTBOX_BELL } from './unit-of-work';
