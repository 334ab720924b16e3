import pino, { type DestinationStream, type Logger } from 'pino';

import type { Log } from '../../ports/log';

/** Names under which secrets and user content could slip into a log line. */
const REDACTED = [
  'prompt',
  'negativePrompt',
  'authorization',
  'apiKey',
  'secret',
  'password',
  'token',
  'cookie',
];
const URL_QUERY = /(\bhttps?:\/\/[^\s?"']+)\?[^\s"']*/g;

export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly name: string;
}

const MESSAGE_CHARS_MAX = 2_000;
const STACK_CHARS_MAX = 8_000;
const CAUSES_MAX = 3;

/** One JSON line per event, on standard output unless told otherwise. Queries of URLs (where signatures live) are cut. */
export const createLog = (
  options: LogOptions,
  destination: DestinationStream = pino.destination({ fd: 1, sync: true }),
): Log =>
  wrap(
    pino(
      {
        level: options.level,
        base: { worker: options.name },
        redact: {
          paths: REDACTED.flatMap((name) => [name, `*.${name}`]),
          censor: '[redacted]',
        },
      },
      destination,
    ),
  );

const wrap = (logger: Logger): Log => ({
  debug: (message, fields) => logger.debug(clean(fields), message),
  info: (message, fields) => logger.info(clean(fields), message),
  warn: (message, fields) => logger.warn(clean(fields), message),
  error: (message, fields) => logger.error(clean(fields), message),
  child: (fields) => wrap(logger.child(clean(fields))),
});

const clean = (fields: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields ?? {}).map(([key, value]) => [key, cleanValue(value)]));

const cleanValue = (value: unknown): unknown => {
  if (typeof value === 'string') return cutQueries(value);
  return value instanceof Error ? describeError(value, CAUSES_MAX) : value;
};

const cutQueries = (text: string): string => text.replace(URL_QUERY, '$1?[redacted]');

/**
 * JSON of an Error is `{}`: its message and stack are no enumerable properties. Nothing else of it is written, since drivers hang
 * statements and their values on theirs; `code` is a word.
 */
const describeError = (error: Error, causesMax: number): Record<string, unknown> => {
  const { code } = error as { readonly code?: unknown };
  return {
    type: error.name,
    message: cutQueries(error.message).slice(0, MESSAGE_CHARS_MAX),
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.stack === undefined
      ? {}
      : { stack: cutQueries(error.stack).slice(0, STACK_CHARS_MAX) }),
    ...(error.cause instanceof Error && causesMax > 0
      ? { cause: describeError(error.cause, causesMax - 1) }
      : {}),
  };
};
