import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { ConfigError, readConfig } from '../../../src/runtime/config';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'aivedio-secrets-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const file = (text: string): string => {
  const name = path.join(dir, 'secret');
  writeFileSync(name, text);
  return name;
};

const problemsOf = (env: Readonly<Record<string, string>>): readonly string[] => {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems;
  }
};

describe('a secret in a file', () => {
  it('is read without its last line break', () => {
    const secret = 'S'.repeat(43);
    expect(readConfig({ AIVEDIO_SIGNING_SECRET_FILE: file(`${secret}\n`) }).signingSecret).toBe(
      secret,
    );
    const url = 'postgresql://aivedio:pass@db/aivedio';
    expect(readConfig({ AIVEDIO_DATABASE_URL_FILE: file(url) }).databaseUrl).toBe(url);
  });

  it('is refused beside the variable itself, without telling either', () => {
    const secret = 'S'.repeat(43);
    const problems = problemsOf({
      AIVEDIO_SIGNING_SECRET: secret,
      AIVEDIO_SIGNING_SECRET_FILE: file(secret),
    });
    expect(problems).toEqual([
      'AIVEDIO_SIGNING_SECRET_FILE: AIVEDIO_SIGNING_SECRET is set as well; unset one of the two',
    ]);
  });

  it('that is missing or empty is told together with every other problem', () => {
    const missing = path.join(dir, 'missing');
    expect(
      problemsOf({
        AIVEDIO_SIGNING_SECRET_FILE: missing,
        AIVEDIO_SANDBOX_API_KEY_FILE: file('\n'),
        AIVEDIO_HTTP_PORT: '70000',
      }),
    ).toEqual([
      `AIVEDIO_SIGNING_SECRET_FILE: ${missing} cannot be read (ENOENT)`,
      `AIVEDIO_SANDBOX_API_KEY_FILE: ${path.join(dir, 'secret')} is empty`,
      expect.stringMatching(/^AIVEDIO_HTTP_PORT: /),
    ]);
  });
});
