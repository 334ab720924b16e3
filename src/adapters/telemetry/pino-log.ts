import pino, { type Logger } from 'pino';

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

/** One JSON line per event on standard output. Queries of URLs (where signatures live) are cut. */
export const createLog = (options: LogOptions): Log =>
  wrap(
    pino({
      level: options.level,
      base: { worker: options.name },
      redact: {
        paths: REDACTED.flatMap((name) => [name, `*.${name}`]),
        censor: '[redacted]',
      },
    }),
  );

const wrap = (logger: Logger): Log => ({
  debug: (message, fields) => logger.debug(clean(fields), message),
  info: (message, fields) => logger.info(clean(fields), message),
  warn: (message, fields) => logger.warn(clean(fields), message),
  error: (message, fields) => logger.error(clean(fields), message),
  child: (fields) => wrap(logger.child(clean(fields))),
});

const clean = (fields: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields ?? {}).map(([key, value]) => [
      key,
      typeof value === 'string' ? value.replace(URL_QUERY, '$1?[redacted]') : value,
    ]),
  );
