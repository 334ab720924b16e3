import type { Log } from '../ports/log';

/** A command answers on standard output; what its parts would log is not part of the answer. */
export const QUIET: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => QUIET,
};
