import { readFileSync } from 'node:fs';

/** Variables that carry a secret: each may also come as `<NAME>_FILE`, the path of a file that holds it, as secret stores mount them. */
export const SECRET_VARIABLES = [
  'AIVEDIO_DATABASE_URL',
  'AIVEDIO_DATABASE_DIRECT_URL',
  'AIVEDIO_SIGNING_SECRET',
  'AIVEDIO_SANDBOX_API_KEY',
  'AIVEDIO_SANDBOX_WEBHOOK_SECRET',
  'AIVEDIO_REDIS_URL',
  'AIVEDIO_ROCKETMQ_ACCESS_KEY',
  'AIVEDIO_ROCKETMQ_SECRET_KEY',
  'AIVEDIO_S3_ACCESS_KEY_ID',
  'AIVEDIO_S3_SECRET_ACCESS_KEY',
] as const;

/** The environment with the secrets of files in their places, and what was wrong with those files; no secret in any problem. */
export const withSecretFiles = (
  given: Readonly<Record<string, string | undefined>>,
): {
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly problems: readonly string[];
} => {
  const values = { ...given };
  const problems: string[] = [];
  for (const name of SECRET_VARIABLES) {
    const variable = `${name}_FILE`;
    const file = given[variable];
    if (file === undefined) continue;
    if (given[name] !== undefined) {
      problems.push(`${variable}: ${name} is set as well; unset one of the two`);
      continue;
    }
    try {
      // Editors and `echo` end a file with a line break, which no secret has.
      const secret = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
      if (secret === '') problems.push(`${variable}: ${file} is empty`);
      else values[name] = secret;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      problems.push(`${variable}: ${file} cannot be read (${code ?? String(error)})`);
    }
  }
  return { values, problems };
};
