import type { Log } from '../../src/ports/log';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A log that keeps its lines for the test to read. */
export const createRecordingLog = (): Log & { readonly lines: LogLine[] } => {
  const lines: LogLine[] = [];
  const record =
    (level: LogLine['level']) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
      lines.push({ level, message, fields });
    };
  const log = {
    lines,
    debug: record('debug'),
    info: record('info'),
    warn: record('warn'),
    error: record('error'),
    child: (): Log => log,
  };
  return log;
};
