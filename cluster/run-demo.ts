import { createGraphqlClient } from '../src/client/graphql-client';
import { DEMO_USAGE, readDemoOptions } from '../src/demo/options';
import { runMainJob } from '../src/demo/run-main-job';
import { describeSeen, findUnused, judgeStored } from './judge';
import type { Cluster } from './open-cluster';

interface Voice {
  readonly print: (line: string) => void;
  readonly say: (line: string) => void;
}

/** The main job over all real servers; then what each of them saw, and every invariant. Answers the exit code. */
export const runDemo = async (
  cluster: Cluster,
  words: readonly string[],
  { print, say }: Voice,
): Promise<number> => {
  const options = readDemoOptions(words);
  if (options === 'HELP') {
    print(DEMO_USAGE);
    return 0;
  }
  const before = await cluster.backEnds.countSeen();
  const client = createGraphqlClient(cluster.front.url, cluster.apiKey);
  const shortfalls = await runMainJob(client, options, { print, say });
  await client.close();
  const after = await cluster.backEnds.countSeen();
  const seen = {
    postgresCommits: after.postgresCommits - before.postgresCommits,
    rocketmqMessages: after.rocketmqMessages - before.rocketmqMessages,
    redisCommands: after.redisCommands - before.redisCommands,
    s3Requests: after.s3Requests - before.s3Requests,
  };
  print('What the servers saw of it');
  for (const line of describeSeen(seen)) print(line);
  print(`  ${'requests to each API'.padEnd(28)} ${cluster.front.passed().join(', ')}`);
  print(`  ${'callbacks to each worker'.padEnd(28)} ${cluster.callbackFront.passed().join(', ')}`);
  await cluster.stopProduct();
  const { invariants, rows, violations } = await judgeStored(cluster.config);
  print(`\n${invariants} invariants asked of ${rows} rows: ${violations.length} violations`);
  const complaints = [
    ...shortfalls,
    ...findUnused(seen),
    ...violations.map((each) => `${each.invariant} ${each.subject}: ${each.detail}`),
  ];
  for (const complaint of complaints) print(`Fell short: ${complaint}`);
  return complaints.length === 0 ? 0 : 1;
};
