/**
 * Why the embedded server could not be started. The message always ends with what to do about it,
 * because the reader is usually somebody who has just cloned the project.
 */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';

  constructor(
    readonly reason: string,
    readonly remedy: string,
    options?: ErrorOptions,
  ) {
    super(`${reason} ${remedy}`, options);
  }
}

/** Where notices and warnings go. `console` and a pino logger both fit. */
export interface EmbeddedPostgresLog {
  info(message: string): void;
  warn(message: string): void;
}
