import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { projectRoot } from '../../../src/runtime/project-root';

const runFile = promisify(execFile);
const BACK_ENDS = [
  'rocketmq-client-nodejs',
  '@grpc/grpc-js',
  'ioredis',
  '@aws-sdk',
  '@opentelemetry/sdk-trace-node',
];
/** Wires a process as every worker does, and says which packages that loaded. No connection opens: nothing is used. */
const SAY_WHAT_IS_LOADED = `
  require('./dist/src/runtime/run-worker.js');
  const { readConfig } = require('./dist/src/runtime/config.js');
  require('./dist/src/runtime/container.js').createContainer(readConfig(), 'test');
  const packages = Object.keys(require.cache).map(
    (file) => /.*node_modules[\\\\/]((?:@[^\\\\/]+[\\\\/])?[^\\\\/]+)/.exec(file)?.[1]?.replace('\\\\', '/'),
  );
  process.stdout.write(JSON.stringify([...new Set(packages.filter(Boolean))]), () => process.exit(0));
`;

let dataDir: string;
beforeAll(() => {
  dataDir = mkdtempSync(path.join(os.tmpdir(), 'aivedio-loads-'));
});
afterAll(() => rmSync(dataDir, { recursive: true }));

const loadedWith = async (settings: Readonly<Record<string, string>>): Promise<string[]> => {
  const { stdout } = await runFile(process.execPath, ['-e', SAY_WHAT_IS_LOADED], {
    cwd: projectRoot(),
    env: {
      PATH: process.env['PATH'],
      AIVEDIO_DATA_DIR: dataDir,
      AIVEDIO_DATABASE_URL: 'postgresql://nobody@127.0.0.1:9/none',
      AIVEDIO_SIGNING_SECRET: 'x'.repeat(43),
      AIVEDIO_LOG_LEVEL: 'error',
      ...settings,
    },
  });
  const packages = JSON.parse(stdout) as string[];
  return BACK_ENDS.filter((name) =>
    packages.some((each) => each === name || each.startsWith(`${name}/`)),
  );
};

test('a process of the embedded default loads no client of another back end', async () => {
  await expect(loadedWith({})).resolves.toEqual([]);
});

test('a process on RocketMQ loads its client, and one with Redis loads that', async () => {
  await expect(
    loadedWith({
      AIVEDIO_BUS: 'rocketmq',
      AIVEDIO_ROCKETMQ_ENDPOINTS: '127.0.0.1:9',
    }),
  ).resolves.toEqual(['rocketmq-client-nodejs', '@grpc/grpc-js']);
  await expect(loadedWith({ AIVEDIO_REDIS_URL: 'redis://127.0.0.1:9' })).resolves.toEqual([
    'ioredis',
  ]);
});

test('a process that tells a collector loads what traces, and no other does', async () => {
  await expect(loadedWith({ AIVEDIO_OTLP_URL: 'http://127.0.0.1:9' })).resolves.toEqual([
    '@opentelemetry/sdk-trace-node',
  ]);
});
