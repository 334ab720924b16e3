export { startEmbeddedPostgres } from './start-embedded-postgres';
export type { EmbeddedPostgres, EmbeddedPostgresOptions } from './start-embedded-postgres';
export { EmbeddedPostgresError } from './embedded-postgres-error';
