/** One word of `npm run cli`. */
export interface Command {
  readonly name: string;
  /** One line of the usage. */
  readonly says: string;
  /** Answers the exit code: 0 done, 1 done with a bad result, 2 not done. */
  run(words: readonly string[], print: (line: string) => void): Promise<number>;
}

/** What was asked cannot be understood; the message says what can. */
export class UsageError extends Error {}
