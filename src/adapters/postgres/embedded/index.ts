export { startEmbeddedPostgres } from './start-embedded-postgres';
export type { EmbeddedPostgres, EmbeddedPostgresOptions } from './start-embedded-postgres';
export { EmbeddedPostgresError } from './embedded-postgres-error';
export type { EmbeddedPostgresLog } from './embedded-postgres-error';
