/** The database was migrated by a newer version of the product: this one must not write to it. */
export class SchemaTooNewError extends Error {
  override readonly name = 'SchemaTooNewError';

  constructor(readonly unknownMigrations: readonly string[]) {
    super(
      `The database holds migrations this version does not know (${unknownMigrations.join(', ')}). ` +
        'Start the newer version of the product that made them, or restore a backup from before.',
    );
  }
}

/** A migration did not go through; the database stands as it did before that migration. */
export class MigrationFailedError extends Error {
  override readonly name = 'MigrationFailedError';

  constructor(
    readonly migration: string,
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(
      `The migration ${migration} failed: ${reason}\n` +
        'Its script ran in one transaction and was rolled back. Remove the cause, then mark it as rolled back and start again: ' +
        `npx prisma migrate resolve --rolled-back ${migration}, or in SQL: ` +
        `UPDATE _prisma_migrations SET rolled_back_at = started_at WHERE migration_name = '${migration}' AND finished_at IS NULL`,
      options,
    );
  }
}

/** A migration's script was changed after it had been applied, so the schema is not the one meant. */
export class MigrationEditedError extends Error {
  override readonly name = 'MigrationEditedError';

  constructor(readonly editedMigrations: readonly string[]) {
    super(
      `These migrations were edited after this database had applied them: ${editedMigrations.join(', ')}. ` +
        'Put the scripts back as released and write a new migration instead; ' +
        'for a database without value, delete its data folder and start again.',
    );
  }
}

/** Another starter has been migrating for longer than this one was willing to wait. */
export class MigrationLockError extends Error {
  override readonly name = 'MigrationLockError';

  constructor(waitMs: number, options?: ErrorOptions) {
    super(
      `Another process has been migrating this database for more than ${String(waitMs / 1000)} seconds. ` +
        'Wait for it to end, then start again.',
      options,
    );
  }
}
