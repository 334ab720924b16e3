import path from 'node:path';

import { createIdSource } from './adapters/ids/uuid-ids';
import { createConsoleLog } from './adapters/telemetry/console-log';
import { createGraphqlClient, dataOf, type GraphqlClient } from './client/graphql-client';
import { GENERATION_CREATE, type UserError } from './demo/operations';
import { DEMO_USAGE, readDemoOptions, type DemoOptions } from './demo/options';
import { printReport, shortfallsOf } from './demo/print-report';
import { saveResults } from './demo/save-results';
import { refuseErrors, uploadPicture } from './demo/upload-picture';
import { watchGeneration } from './demo/watch-generation';
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
      name: 'Demo',
      scopes: TENANT_SCOPES,
      lifeMs: KEY_LIFE_MS,
    });
    const client = createGraphqlClient(product.publicUrl, key);
    const shortfalls = await runMainJob(client, options);
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

const runMainJob = async (client: GraphqlClient, options: DemoOptions): Promise<string[]> => {
  const imageAssetId = await uploadPicture(client, options.image);
  say(`Uploaded ${path.basename(options.image)}: READY`);
  const id = await createGeneration(client, options, imageAssetId);
  const report = await watchGeneration(client, id, say);
  printReport(report, print);
  const shortfalls = shortfallsOf(report);
  if (report.playback !== null) {
    const saved = await saveResults(report.playback, options.outputDir, report.id);
    print(`\nPlay it\n  MP4  ${saved.mp4}`);
    if (saved.hlsMaster !== null) print(`  HLS  ${saved.hlsMaster}`);
    print(`  URL  ${report.playback.url} (while the product runs)`);
  }
  print('');
  return shortfalls;
};

const createGeneration = async (
  client: GraphqlClient,
  options: DemoOptions,
  imageAssetId: string,
): Promise<string> => {
  const { generationCreate } = dataOf(
    await client.request<{
      generationCreate: {
        generation: { id: string; price: string } | null;
        userErrors: readonly UserError[];
      };
    }>(GENERATION_CREATE, {
      input: {
        idempotencyKey: createIdSource().secret(16),
        model: options.model,
        prompt: options.prompt,
        durationMs: options.durationMs,
        aspectRatio: options.aspectRatio,
        resolution: options.resolution,
        imageAssetId,
        ...(options.seed === null ? {} : { seed: options.seed }),
        ...(options.fault === null ? {} : { providerOptions: { fault: options.fault } }),
      },
    }),
  );
  refuseErrors('generation', generationCreate.userErrors);
  if (generationCreate.generation === null) throw new Error('The API created no generation');
  say(`Created ${generationCreate.generation.id} for ${generationCreate.generation.price} credits`);
  return generationCreate.generation.id;
};

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
