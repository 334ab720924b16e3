export { applyMigrations } from './apply-migrations';
export type { AppliedMigrations, ApplyMigrationsOptions } from './apply-migrations';
export { diffSchema } from './diff-schema';
export {
  MigrationEditedError,
  MigrationFailedError,
  MigrationLockError,
  SchemaTooNewError,
} from './migration-errors';
