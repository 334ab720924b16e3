import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { startRedis, withRedis, type RedisServer } from '../../../cluster/servers/redis';
import { describeIfAvailable } from '../../support/requirements';

describeIfAvailable('redis', 'the Redis server of tests and of the cluster', () => {
  let dir: string;
  let server: RedisServer;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'aivedio-redis-'));
    server = await startRedis({ dir });
  });
  afterAll(async () => {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  });

  it('wants its password', async () => {
    await expect(withRedis(server.port, null, (redis) => redis.get('a'))).rejects.toThrow('NOAUTH');
  });

  it('begins empty at the same port after a kill, and still knows what it was asked', async () => {
    const [before, { port, pids }] = [await server.commandsSeen(['set', 'get']), server];
    await server.admin((redis) => redis.set('a', '1', 'EX', 60));
    await server.kill('SIGKILL');
    expect(server.pids).toEqual([]);

    await server.start();
    expect(server.port).toBe(port);
    expect(server.pids).not.toEqual(pids);
    expect(await server.admin((redis) => redis.get('a'))).toBeNull();
    expect((await server.commandsSeen(['set', 'get'])) - before).toBe(2);
  });

  it('is deaf while it is stopped, and hears again', async () => {
    await server.admin((redis) => redis.set('a', '1', 'EX', 60));
    await server.kill('SIGSTOP');
    await expect(server.admin((redis) => redis.get('a'))).rejects.toThrow();
    await server.kill('SIGCONT');
    expect(await server.admin((redis) => redis.get('a'))).toBe('1');
    await server.flush();
    expect(await server.admin((redis) => redis.get('a'))).toBeNull();
  });
});
