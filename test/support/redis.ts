import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { startRedis, type RedisServer } from '../../cluster/servers/redis';

export interface TestRedis {
  readonly server: RedisServer;
  /** Says how many commands (of the given names) the server saw, fails on none, and ends it. */
  end(title: string, commands?: readonly string[]): Promise<void>;
}

/** A Redis of one test file. */
export const startTestRedis = async (args: readonly string[] = []): Promise<TestRedis> => {
  const dir = await mkdtemp(path.join(tmpdir(), 'aivedio-redis-'));
  const server = await startRedis({ dir, args });
  return {
    server,
    end: async (title, commands) => {
      const seen = await server.commandsSeen(commands);
      process.stdout.write(`${title}: the Redis server saw ${seen} commands\n`);
      await server.stop();
      await rm(dir, { recursive: true, force: true });
      expect(seen).toBeGreaterThan(0);
    },
  };
};
