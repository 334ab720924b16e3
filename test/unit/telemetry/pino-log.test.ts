import { createLog } from '../../../src/adapters/telemetry/pino-log';

interface Line {
  readonly error: { readonly message: string };
  readonly url: string;
}

const write = (fields: Record<string, unknown>): Line => {
  const lines: string[] = [];
  const log = createLog({ level: 'info', name: 'api' }, { write: (line) => void lines.push(line) });
  log.error('request failed', fields);
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '') as Line;
};

describe('an error in a log line', () => {
  it('is there with its name, message, stack, code and causes', () => {
    const cause = Object.assign(new TypeError('no such row'), { code: '23505' });
    const { error } = write({ error: new Error('cannot save', { cause }) });
    expect(error).toEqual({
      type: 'Error',
      message: 'cannot save',
      stack: expect.stringContaining('pino-log.test'),
      cause: expect.objectContaining({ type: 'TypeError', message: 'no such row', code: '23505' }),
    });
  });

  it('carries no query of a URL, and nothing that a driver hung on it', () => {
    const error = new Error('GET https://files.test/a.mp4?signature=hidden failed');
    const line = write({ error: Object.assign(error, { detail: 'a prompt' }) });
    expect(line.error.message).toBe('GET https://files.test/a.mp4?[redacted] failed');
    expect(JSON.stringify(line)).not.toMatch(/hidden|a prompt/);
  });

  it('is cut where it is long, and ends where its causes go in a circle', () => {
    const error: Error = new Error('x'.repeat(100_000));
    error.cause = error;
    const line = write({ error });
    expect(line.error.message).toHaveLength(2_000);
    expect(JSON.stringify(line).length).toBeLessThan(50_000);
  });
});

describe('a text in a log line', () => {
  it('loses the query of its URLs', () => {
    expect(write({ url: 'http://files.test/a?token=hidden' }).url).toBe(
      'http://files.test/a?[redacted]',
    );
  });
});
