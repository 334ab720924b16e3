import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { createConsoleLog } from '../src/adapters/telemetry/console-log';
import { projectRoot } from '../src/runtime/project-root';
import { onStopSignal } from '../src/runtime/run-worker';
import { readClusterCommand, USAGE, type ClusterCommand } from './cluster-options';
import { IMPATIENT, runDegrade, SCENARIOS, unknownScenarios } from './degrade/run-degrade';
import { openCluster, type Cluster } from './open-cluster';
import { runDemo } from './run-demo';

const STOP_LIMIT_MS = 60_000;
const beganMs = performance.now();
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const say = (line: string): void =>
  print(`${((performance.now() - beganMs) / 1_000).toFixed(1).padStart(6)} s  ${line}`);

const main = async (): Promise<number> => {
  const command = readClusterCommand(process.argv.slice(2));
  if (command === 'HELP') {
    print(USAGE);
    return process.argv.length > 2 ? 0 : 2;
  }
  const unknown = unknownScenarios(command.only);
  if (unknown.length > 0)
    throw new Error(`There is no degradation ${unknown.join(', ')}; see --list`);
  if (command.list) {
    for (const { name, says } of SCENARIOS) print(`${name.padEnd(20)} ${says}`);
    return 0;
  }
  const dataDir = await folderOf(command);
  let sound = false;
  const forget = async (): Promise<void> => {
    if (command.dir !== null) return;
    // What went wrong stands in the logs.
    if (sound || command.command === 'up') await rm(dataDir, { recursive: true, force: true });
    else say(`The data stays in ${dataDir}`);
  };
  let cluster: Cluster | null = null;
  let opening: Promise<Cluster> | null = null;
  const stop = async (): Promise<void> => {
    // A Ctrl-C while it starts: what is under way comes up and is ended then.
    await (cluster ?? (await opening?.catch(() => null)))?.stop();
    await forget();
  };
  onStopSignal(STOP_LIMIT_MS, stop);
  try {
    opening = openCluster({ dataDir, say, log: createConsoleLog(say), ...settingsOf(command) });
    cluster = await opening;
    const code = await run(command, cluster);
    sound = code === 0;
    return code;
  } finally {
    await stop();
  }
};

const folderOf = async ({ dir }: ClusterCommand): Promise<string> => {
  const folder = dir ?? (await mkdtemp(path.join(tmpdir(), 'aivedio-cluster-')));
  await mkdir(folder, { recursive: true });
  // Else a server that must not run as root could not enter it.
  await chmod(folder, 0o755);
  return folder;
};

const run = async (
  { command, rest, only, sampled }: ClusterCommand,
  cluster: Cluster,
): Promise<number> => {
  switch (command) {
    case 'up':
      return keepUp(cluster);
    case 'demo':
      return runDemo(cluster, rest, { print, say });
    case 'degrade':
      return runDegrade(cluster, { only, sampled }, { print, say });
  }
};

/** While parts are broken the outputs are made by the clip itself, so that two processors can carry it. */
const settingsOf = ({ command }: ClusterCommand) =>
  command === 'degrade'
    ? {
        env: IMPATIENT,
        scripts: { media: path.join(projectRoot(), 'dist', 'chaos', 'media-process.js') },
        sandboxArgs: [
          '--render',
          'instant',
          '--callback-backoff-ms',
          '400',
          '--callback-tries',
          '9',
        ],
      }
    : {};

const keepUp = (cluster: Cluster): Promise<never> => {
  const { backEnds, front, callbackFront, sandboxUrl, apiKey, dataDir, processes } = cluster;
  const lines: readonly (readonly [string, string])[] = [
    ['GraphQL', `${front.url}/graphql`],
    ['Playground', `${front.url}/playground`],
    ['API key', apiKey],
    ['Callbacks', callbackFront.url],
    ['Sandbox', sandboxUrl],
    ['Postgres', backEnds.postgres.url],
    ['RocketMQ', `${backEnds.rocketmq.endpoints}, name server ${backEnds.rocketmq.namesrv}`],
    ['Redis', backEnds.redis.url],
    ['S3', backEnds.s3.url],
    ['Data, logs', dataDir],
    ...processes.map(({ name, healthUrl }): [string, string] => [name, `${healthUrl}/readyz`]),
  ];
  print('');
  print('AiVedio runs as a cluster of this machine.');
  for (const [name, value] of lines) print(`  ${name.padEnd(20)} ${value}`);
  print('\nStop with Ctrl-C.');
  return new Promise(() => undefined);
};

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  },
);
