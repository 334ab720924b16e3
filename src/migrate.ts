import { createConsoleLog } from './adapters/telemetry/console-log';
import { toPublicId } from './resolvers/public-id';
import { readConfig } from './runtime/config';
import { fillDatabase, migrate } from './runtime/prepare';

/**
 * Brings a deployment's database to this version and fills what must stand in it. Run before the other processes of a version
 * start; running it again, or several at once, changes nothing.
 */
const main = async (): Promise<void> => {
  const config = readConfig();
  if (config.databaseUrl === null)
    throw new Error('Set AIVEDIO_DATABASE_URL; `npm start` migrates the embedded server by itself');
  const log = createConsoleLog((line) => process.stdout.write(`${line}\n`));
  const url = config.databaseDirectUrl ?? config.databaseUrl;
  await migrate(url, log);
  const first = await fillDatabase(config, url, config.sandbox.url, log);
  if (first === null) return;
  log.info('First start: a tenant, credits and an API key were made. The key is shown only now.', {
    tenant: toPublicId('tenant', first.tenantId),
    credits: first.creditsGranted,
    apiKey: first.token,
  });
};

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
