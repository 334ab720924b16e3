import { readConfig } from './runtime/config';
import { KEY_USAGE, readKeyOptions, type KeyOptions } from './runtime/key-options';
import { issueLocalKey } from './runtime/prepare';
import { resolveSecrets } from './runtime/secrets';

/** Makes an API key of the first tenant and prints it once: for whoever has the machine and lost the first key. */
const main = async (): Promise<void> => {
  const options = readOptions();
  if (options === 'HELP') {
    process.stdout.write(`${KEY_USAGE}\n`);
    return;
  }
  const config = readConfig();
  const { databaseUrl } = resolveSecrets(config);
  process.stdout.write(`${await issueLocalKey(config, databaseUrl, options)}\n`);
};

const readOptions = (): KeyOptions | 'HELP' => {
  try {
    return readKeyOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${KEY_USAGE}\n`);
    return process.exit(2);
  }
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
