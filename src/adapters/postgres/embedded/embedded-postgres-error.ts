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
