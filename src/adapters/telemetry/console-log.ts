import type { Log } from '../../ports/log';

/** Plain lines for a person at a terminal; debug is left out. */
export const createConsoleLog = (write: (line: string) => void): Log => {
  const line = (mark: string) => (message: string, fields?: Readonly<Record<string, unknown>>) => {
    const rest = Object.entries(fields ?? {}).map(([key, value]) => `${key}=${String(value)}`);
    write([mark, message, ...rest].filter((part) => part !== '').join(' '));
  };
  const log: Log = {
    debug: () => undefined,
    info: line(''),
    warn: line('!'),
    error: line('!!'),
    child: () => log,
  };
  return log;
};
