import { createConsoleLog } from './adapters/telemetry/console-log';
import { createGraphqlClient } from './client/graphql-client';
import { DEMO_USAGE, readDemoOptions } from './demo/options';
import { runMainJob } from './demo/run-main-job';
import { readConfig, type Config } from './runtime/config';
import { TENANT_SCOPES } from './runtime/key-options';
import { startPlatform } from './runtime/platform';
import { issueLocalKey } from './runtime/prepare';
import { onStopSignal } from './runtime/run-worker';
import { readEmbeddedState } from './runtime/secrets';

const KEY_LIFE_MS = 3_600_000;
const beginning = process.hrtime.bigint();
const seconds = (): string =>
  (Number(process.hrtime.bigint() - beginning) / 1e9).toFixed(1).padStart(5);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const say = (line: string): void => print(`${seconds()} s  ${line}`);

interface Product {
  readonly publicUrl: string;
  readonly databaseUrl: string;
  stop(): Promise<void>;
}

const main = async (): Promise<number> => {
  const options = readDemoOptions(process.argv.slice(2));
  if (options === 'HELP') {
    print(DEMO_USAGE);
    return 0;
  }
  const config = readConfig();
  const product = await findOrStart(config);
  const stop = once(product.stop);
  onStopSignal(config.drainMs * 3, stop);
  try {
    const key = await issueLocalKey(config, product.databaseUrl, {
      tenant: null,
      name: 'Demo',
      scopes: TENANT_SCOPES,
      lifeMs: KEY_LIFE_MS,
    });
    const client = createGraphqlClient(product.publicUrl, key);
    const shortfalls = await runMainJob(client, options, { print, say });
    await client.close();
    for (const shortfall of shortfalls) print(`Fell short: ${shortfall}`);
    if (options.keepRunning) await keepRunning(product.publicUrl);
    return shortfalls.length === 0 ? 0 : 1;
  } finally {
    await stop();
  }
};

/** The product of this data folder when it runs already; else it is started, and stopped at the end. */
const findOrStart = async (config: Config): Promise<Product> => {
  const state = readEmbeddedState(config.dataDir);
  if (state?.publicUrl !== undefined && (await isReady(state.publicUrl))) {
    say(`The product runs at ${state.publicUrl}`);
    return {
      publicUrl: state.publicUrl,
      databaseUrl: state.databaseUrl,
      stop: () => Promise.resolve(),
    };
  }
  say('Starting database, provider, API and workers …');
  const log = createConsoleLog((line) => say(line));
  const platform = await startPlatform({ config, log, anyPort: true });
  say(`The product runs at ${platform.publicUrl}`);
  if (platform.firstStart !== null) {
    say(`First start: your API key, shown only now, is ${platform.firstStart.token}`);
  }
  return platform;
};

const isReady = (publicUrl: string): Promise<boolean> =>
  fetch(`${publicUrl}/readyz`).then(
    (response) => response.ok,
    () => false,
  );

const keepRunning = (publicUrl: string): Promise<never> => {
  print(`The product keeps running: ${publicUrl}/playground. Stop with Ctrl-C.`);
  return new Promise(() => undefined);
};

const once = (work: () => Promise<void>): (() => Promise<void>) => {
  let running: Promise<void> | null = null;
  return () => (running ??= work());
};

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(
      `The demo fell short: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    process.exit(1);
  },
);
