import { readConfig } from './runtime/config';
import { issueLocalKey } from './runtime/prepare';
import { resolveSecrets } from './runtime/secrets';

const LIFE_MS = 365 * 24 * 3_600_000;

/** Makes an API key of the first tenant and prints it once: for whoever has the machine and lost the first key. */
const main = async (): Promise<void> => {
  const config = readConfig();
  const { databaseUrl } = resolveSecrets(config);
  const token = await issueLocalKey(config, databaseUrl, 'Made on the machine', LIFE_MS);
  process.stdout.write(`${token}\n`);
};

main().then(
  () => process.exit(0),
  (error: unknown) => {
    // The client's messages carry its source; what went wrong is their last line.
    const text = String(error).trim().split('\n').at(-1);
    process.stderr.write(
      `No key could be made: ${text}\nThe database must run: start it with "npm start".\n`,
    );
    process.exit(1);
  },
);
