import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { startRocketmq, type RocketmqServer } from '../../../cluster/servers/rocketmq';
import { createAdministration } from '../../../src/adapters/rocketmq/administer';

export interface TestRocketmq {
  readonly server: RocketmqServer;
  /** A prefix whose topics and groups exist and nobody has used. */
  nextPrefix(): string;
  /** Prints how many messages the server saw, and fails when there were none. */
  stop(): Promise<void>;
}

/** A server for one file of tests, with topics and groups for `prefixes` buses of their own. */
export const startTestRocketmq = async (prefixes: number): Promise<TestRocketmq> => {
  const dir = await mkdtemp(path.join(tmpdir(), 'aivedio-rocketmq-'));
  const server = await startRocketmq({ dir, heapMb: 384 });
  const names = Array.from({ length: prefixes }, (_, index) => `t${String(index)}`);
  const { problems } = await createAdministration({
    mqadmin: server.mqadminPath,
    namesrv: server.namesrv,
  }).create(names);
  expect(problems).toEqual([]);
  return {
    server,
    nextPrefix: () => {
      const name = names.shift();
      if (name === undefined) throw new Error('Ask startTestRocketmq for more prefixes');
      return name;
    },
    stop: async () => {
      const seen = await server.messagesSeen();
      process.stdout.write(`RocketMQ saw ${String(seen)} messages\n`);
      await server.kill();
      await server.stop();
      await rm(dir, { recursive: true, force: true });
      expect(seen).toBeGreaterThan(0);
    },
  };
};
