import { createConsoleLog } from './adapters/telemetry/console-log';
import { toPublicId } from './resolvers/public-id';
import { ConfigError, readConfig } from './runtime/config';
import { startPlatform, type Platform } from './runtime/platform';
import { onStopSignal } from './runtime/run-worker';

const log = createConsoleLog((line) => process.stdout.write(`${line}\n`));

const main = async (): Promise<void> => {
  const config = readConfig();
  process.stdout.write(
    'Starting the database and the processes: some seconds, the first time longer …\n',
  );
  const platform = await startPlatform({ config, log, anyPort: false });
  onStopSignal(config.drainMs * 3, platform.stop);
  printWelcome(platform);
};

const printWelcome = (platform: Platform): void => {
  const first = platform.firstStart;
  const lines = [
    '',
    'AiVedio is running.',
    `  GraphQL      ${platform.publicUrl}/graphql`,
    `  Playground   ${platform.publicUrl}/playground`,
    `  Callbacks    ${platform.callbackUrl}`,
    `  Sandbox      ${platform.sandboxUrl}`,
    `  Workers      ${describeProcesses(platform)}`,
    ...(first === null
      ? ['', 'Another API key: npm run key']
      : [
          '',
          'First start: a tenant, credits and an API key were made. The key is shown only now.',
          `  Tenant       ${toPublicId('tenant', first.tenantId)}`,
          `  Credits      ${first.creditsGranted}`,
          `  API key      ${first.token}`,
        ]),
    '',
    'Stop with Ctrl-C.',
    '',
  ];
  process.stdout.write(lines.join('\n'));
};

/** Which workers share a process; their log bears the process's name. */
const describeProcesses = ({ processes }: Platform): string => {
  const shared = processes.filter(({ workers }) => workers.length > 1);
  if (shared.length === 0) return 'each a process of its own';
  return shared
    .map(({ name, workers }) => `${name}: ${workers.join(', ')}`)
    .join('\n               ');
};

main().catch((error: unknown) => {
  process.stderr.write(
    `${error instanceof ConfigError ? error.message : String((error as Error).message)}\n`,
  );
  process.exit(1);
});
