import { createServer } from 'node:net';

import { useOwnApi } from './support/running-api';

const open = useOwnApi();

/** An address at which nothing listens. */
const closedPort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
};

const openWithoutDatabase = async () =>
  open({ databaseUrl: `postgresql://nobody:x@127.0.0.1:${await closedPort()}/nothing` });

describe('without its database, the API', () => {
  it('answers 503 with Retry-After, retryable, whichever part asked first', async () => {
    const api = await openWithoutDatabase();
    const token = `avk_${'0'.repeat(12)}_${'A'.repeat(43)}`;
    const answer = await api.ask('{ viewer { scopes } }', {}, { token });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.errors).toMatchObject([
      {
        extensions: {
          code: 'SERVICE_UNAVAILABLE',
          retryable: true,
          requestId: answer.headers.get('x-request-id'),
        },
      },
    ]);
    expect(answer.text).not.toMatch(/127\.0\.0\.1|ECONNREFUSED|prisma/i);
  });

  it('lives but is not ready', async () => {
    const api = await openWithoutDatabase();
    expect((await fetch(`${api.url}/healthz`)).status).toBe(200);
    const ready = await fetch(`${api.url}/readyz`);
    expect(ready.status).toBe(503);
    // Which part, and no address of it: anybody may ask here.
    expect(await ready.json()).toEqual({
      status: 'not ready',
      parts: [{ name: 'database', ok: false, weight: 'REQUIRED' }],
    });
  });
});

describe('when the database goes away under a request that is known', () => {
  it('reads and writes answer 503, and 200 once it is back', async () => {
    const api = await open();
    expect((await api.ask('{ generations { nodes { id } } }')).status).toBe(200);
    const kill = () =>
      api.database.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
    await kill();
    const statuses: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      statuses.push((await api.ask('{ generations { nodes { id } } balance { held } }')).status);
    }
    // A connection that broke while idle may be noticed by the request that wanted it.
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(statuses.at(-1)).toBe(200);
  });
});
