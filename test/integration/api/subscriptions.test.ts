import { randomUUID } from 'node:crypto';

import WebSocket from 'ws';

import { topics } from '../../../src/flow/notify/announce-change';
import { toUuid } from '../../../src/resolvers/public-id';
import { eventually } from '../../support/eventually';
import { listen } from './support/listen';
import { CREATE, REQUEST, startApi, useOwnApi, type RunningApi } from './support/running-api';
import { walk, walkToRunning, walkToSuccess } from './support/walk-generation';

const UPDATED = `subscription ($id: ID!, $afterVersion: Int) {
  generationUpdated(id: $id, afterVersion: $afterVersion) {
    version status progress gap changes { type version } generation { id status version money { held } events { version } }
  }
}`;

const FEED = 'subscription { generationsUpdated { version status generation { id } } }';

/** So long that no test sees it: what comes, comes by the bell. */
const NEVER_MS = 3_600_000;

const open = useOwnApi();

const versionsOf = (events: { version: number }[]): number[] =>
  events.map(({ version }) => version);

/** Somebody follows an asset, which `check` and then `reject` move without a word to anybody. */
const followAsset = async (api: RunningApi) => {
  const { data } = await api.ask(
    `mutation { assetUploadCreate(input: {fileName: "a.png", contentType: "image/png", sizeBytes: 3, sha256: "${'a'.repeat(64)}"}) { asset { id } } }`,
  );
  const { id } = data.assetUploadCreate.asset;
  const client = api.socket();
  const heard = listen(
    client,
    'subscription ($id: ID!) { assetUpdated(id: $id) { version status asset { rejection { code } } } }',
    { id },
  );
  await heard.untilEvents(1);
  const uuid = toUuid('asset', id);
  const move = (to: 'VALIDATING' | 'REJECTED', changes: { rejectionCode?: string }) =>
    api.context.uow.transact(async (tx) => {
      const asset = await tx.assets.lock(uuid);
      if (asset === null) throw new Error('no asset');
      await tx.assets.patch(asset, to, changes, api.context.clock.now());
    });
  return {
    ...{ client, heard, id, uuid },
    check: () => move('VALIDATING', {}),
    reject: () => move('REJECTED', { rejectionCode: 'UNSUPPORTED_TYPE' }),
  };
};

const untilNothingIsFollowed = (api: RunningApi) =>
  eventually('an end of all following', () => {
    const { rows, tenants, topics: listened } = api.server.feeds.counts();
    return rows + tenants + listened === 0 ? true : null;
  });

describe('a subscription to a generation', () => {
  let api: RunningApi;
  beforeAll(async () => {
    api = await startApi({ liveReadMs: NEVER_MS });
  }, 30_000);
  afterAll(() => api.close());

  it('begins with the present state, tells every transition, and completes after the last', async () => {
    const id = await api.create();
    const client = api.socket();
    const heard = listen(client, UPDATED, { id });
    await heard.untilEvents(1);
    expect(heard.events).toEqual([
      {
        version: 4,
        status: 'QUEUED',
        progress: 0,
        gap: false,
        changes: [],
        generation: {
          id,
          status: 'QUEUED',
          version: 4,
          money: { held: '6' },
          events: [1, 2, 3, 4].map((version) => ({ version })),
        },
      },
    ]);
    let count = 1;
    for (const [event, to] of [
      ['dispatch_claimed', 'DISPATCHING'],
      ['provider_accepted', 'SUBMITTED'],
      ['provider_running', 'RUNNING'],
      ['provider_succeeded', 'OUTPUT_FETCHING'],
      ['output_persisted', 'POST_PROCESSING'],
      ['playable_asset_ready', 'SUCCEEDED'],
    ] as const) {
      await walk(api, id, event, to);
      await heard.untilEvents((count += 1));
      expect(heard.events.at(-1)).toMatchObject({
        status: to,
        version: 3 + count,
        changes: [{ type: event, version: 3 + count }],
        generation: { status: to },
      });
      // Read anew for each event, never from what was loaded for the one before.
      expect(heard.events.at(-1).generation.events).toHaveLength(3 + count);
    }
    expect(await heard.untilEnd()).toBe('COMPLETE');
    await client.dispose();
    await untilNothingIsFollowed(api);
  });

  it('of one that has ended tells its state once and completes', async () => {
    const id = await api.create();
    await walkToRunning(api, id);
    await walkToSuccess(api, id);
    const client = api.socket();
    const heard = listen(client, UPDATED, { id });
    expect(await heard.untilEnd()).toBe('COMPLETE');
    expect(versionsOf(heard.events)).toEqual([10]);
    await client.dispose();
  });

  it('told what it knows gets the transitions that it missed with the first event', async () => {
    const id = await api.create();
    await walkToRunning(api, id);
    const client = api.socket();
    const heard = listen(client, UPDATED, { id, afterVersion: 5 });
    await heard.untilEvents(1);
    expect(heard.events[0]).toMatchObject({
      version: 7,
      gap: false,
      changes: [
        { type: 'provider_accepted', version: 6 },
        { type: 'provider_running', version: 7 },
      ],
    });
    await client.dispose();
  });

  it('is told of a gap when the history is kept no more', async () => {
    const id = await api.create();
    await walkToRunning(api, id);
    await api.database.pool.query(
      'DELETE FROM task_state_events WHERE task_id = $1 AND task_version = 6',
      [toUuid('generation', id)],
    );
    const client = api.socket();
    const heard = listen(client, UPDATED, { id, afterVersion: 4 });
    await heard.untilEvents(1);
    expect(heard.events[0]).toMatchObject({ version: 7, gap: true });
    expect(versionsOf(heard.events[0].changes)).toEqual([5, 7]);
    await client.dispose();
  });

  it.each(['gen_01h455vb4pex5vsknk084sn02q', 'nonsense'])(
    'to %s is an error at once',
    async (id) => {
      const client = api.socket();
      const heard = listen(client, UPDATED, { id });
      expect(await heard.untilEnd()).toBe('ERROR');
      expect(heard.errors).toMatchObject([{ extensions: { code: 'NOT_FOUND', retryable: false } }]);
      expect(heard.events).toEqual([]);
      await client.dispose();
    },
  );

  it('shares one bell and one read with others, and the bell ends with the last of them', async () => {
    const id = await api.create();
    const client = api.socket();
    const heard = Array.from({ length: 20 }, () => listen(client, UPDATED, { id }));
    await Promise.all(heard.map((each) => each.untilEvents(1)));
    expect(api.server.feeds.counts()).toEqual({ rows: 1, tenants: 0, topics: 1 });
    const reads = jest.spyOn(api.reads, 'readLiveTasks');
    await walk(api, id, 'dispatch_claimed', 'DISPATCHING');
    await Promise.all(heard.map((each) => each.untilEvents(2)));
    expect(reads.mock.calls.length).toBeLessThanOrEqual(3);
    for (const each of heard) each.stop();
    await untilNothingIsFollowed(api);
    await client.dispose();
  });

  it('dropped before its first event leaves nothing behind', async () => {
    const id = await api.create();
    for (let i = 0; i < 20; i += 1) {
      const client = api.socket();
      listen(client, UPDATED, { id }).stop();
      await client.dispose();
    }
    await untilNothingIsFollowed(api);
  });
});

describe('a subscription whose messages are lost', () => {
  it('finds every change by its own slow look', async () => {
    const api = await open({ liveReadMs: 50 });
    const id = await api.create();
    const client = api.socket();
    const one = listen(client, UPDATED, { id });
    const all = listen(client, FEED);
    await Promise.all([one.untilEvents(1), all.untilEvents(1)]);
    await walkToRunning(api, id, { ring: false });
    await walkToSuccess(api, id, { ring: false });
    expect(await one.untilEnd()).toBe('COMPLETE');
    expect(one.events.at(-1)).toMatchObject({ status: 'SUCCEEDED', version: 10, gap: false });
    await eventually('the end in the feed', () =>
      all.events.some(({ status }) => status === 'SUCCEEDED') ? true : null,
    );
    await client.dispose();
  });

  /** What `asset.status.changed` would have told. */
  it('finds the end of an asset, too', async () => {
    const api = await open({ liveReadMs: 50 });
    const { client, heard, check, reject } = await followAsset(api);
    await check();
    // By now the feed listens: it reads once when it begins to.
    await heard.untilEvents(2);
    await reject();
    expect(await heard.untilEnd()).toBe('COMPLETE');
    expect(heard.events.at(-1)).toMatchObject({ status: 'REJECTED' });
    await client.dispose();
  });
});

describe('the feed of a tenant', () => {
  let api: RunningApi;
  beforeAll(async () => {
    api = await startApi({ liveReadMs: NEVER_MS });
  }, 30_000);
  afterAll(() => api.close());

  it('begins with what is under way and tells of new ones, and of no other tenant', async () => {
    const ended = await api.create();
    await walkToRunning(api, ended);
    await walkToSuccess(api, ended);
    const first = await api.create();
    const client = api.socket();
    const heard = listen(client, FEED);
    await heard.untilEvents(1);
    expect(heard.events).toMatchObject([{ status: 'QUEUED', generation: { id: first } }]);
    const foreign = await api.create({}, { token: await api.tokenOf(await api.addTenant()) });
    await walkToRunning(api, foreign);
    const second = await api.create();
    await walk(api, second, 'dispatch_claimed', 'DISPATCHING');
    await heard.untilEvents(2);
    expect(heard.events.map(({ generation }) => generation.id)).toEqual([first, second]);
    await client.dispose();
    await untilNothingIsFollowed(api);
  });
});

describe('a subscriber who does not read', () => {
  it('costs bounded memory, and ends with the latest state and the last one', async () => {
    const api = await open({ liveReadMs: NEVER_MS });
    const id = await api.create();
    const socket = new WebSocket(
      `${api.url.replace('http', 'ws')}/graphql`,
      'graphql-transport-ws',
    );
    const frames: {
      type: string;
      payload?: { data: { generationUpdated: { version: number; status: string } } };
    }[] = [];
    socket.on('message', (data) => frames.push(JSON.parse((data as Buffer).toString('utf8'))));
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(JSON.stringify({ type: 'connection_init', payload: { apiKey: api.token } }));
    // Each event is larger than what the kernel buffers for a reader who has stopped.
    const fat = Array.from({ length: 25 }, (_, i) => `e${i}: generation { prompt }`).join(' ');
    await api.database.pool.query(`UPDATE generation_requests SET prompt = repeat('x', 400000)`);
    const query = `subscription { generationUpdated(id: "${id}") { version status ${fat} } }`;
    await eventually('the acknowledgement', () => (frames.length > 0 ? true : null));
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
    await eventually('the first event', () => (frames.length > 1 ? true : null), 20_000);
    socket.pause();
    await walkToRunning(api, id);
    for (let progress = 1; progress <= 100; progress += 1) {
      await api.context.uow.stores.tasks.raiseProgress(toUuid('generation', id), progress);
      await api.pubSub.publish(topics.generation(toUuid('generation', id)), {});
    }
    await walkToSuccess(api, id);
    const buffered = (): number =>
      [...serverSockets(api)].reduce((total, each) => total + each.writableLength, 0);
    expect(buffered()).toBeLessThan(25_000_000);
    socket.resume();
    await eventually('the end', () => (frames.at(-1)?.type === 'complete' ? true : null), 20_000);
    const events = frames.flatMap(({ payload }) => payload?.data?.generationUpdated ?? []);
    expect(events.at(-1)).toMatchObject({ status: 'SUCCEEDED', version: 10 });
    // 107 changes happened while nobody read.
    expect(events.length).toBeLessThan(12);
    socket.close();
  }, 60_000);
});

/** Sockets as the server holds them. */
const serverSockets = (api: RunningApi): Set<{ writableLength: number }> => {
  const found = new Set<{ writableLength: number }>();
  const handles = (process as unknown as { _getActiveHandles(): unknown[] })._getActiveHandles();
  for (const handle of handles) {
    const { server, writableLength } = handle as { server?: unknown; writableLength?: number };
    if (server === api.server.httpServer && typeof writableLength === 'number') {
      found.add(handle as { writableLength: number });
    }
  }
  return found;
};

describe('a socket', () => {
  let api: RunningApi;
  beforeAll(async () => {
    api = await startApi({ liveReadMs: NEVER_MS, revocationCheckMs: 100 });
  }, 30_000);
  afterAll(() => api.close());

  it('takes the key as apiKey or as an Authorization header', async () => {
    for (const parameters of [
      { apiKey: api.token },
      { Authorization: `Bearer ${api.token}` },
      { authorization: `Bearer ${api.token}` },
    ]) {
      const client = api.socket(parameters);
      const heard = listen(client, FEED);
      await eventually('a followed tenant', () =>
        api.server.feeds.counts().tenants === 1 ? true : null,
      );
      heard.stop();
      await untilNothingIsFollowed(api);
      await client.dispose();
    }
  });

  it.each([[{}], [{ apiKey: 'nonsense' }], [{ apiKey: 7 }]])(
    'with %j is closed with 4403',
    async (parameters) => {
      const heard = listen(api.socket(parameters), FEED);
      expect(await heard.untilEnd()).toBe('ERROR');
      expect(heard.closeCode()).toBe(4403);
    },
  );

  it('is closed with 4403 when its key is revoked, and hears nothing after that', async () => {
    const { key, token } = await api.apiKeys.issue({
      tenantId: api.tenantId,
      name: 'short',
      scopes: ['generations:read'],
      expiresAt: null,
      now: api.context.clock.now(),
    });
    const id = await api.create();
    const heard = listen(api.socket({ apiKey: token }), UPDATED, { id });
    await heard.untilEvents(1);
    // By another process: nothing in this one knows of it.
    await api.database.pool.query('UPDATE api_keys SET revoked_at = $2 WHERE id = $1', [
      key.id,
      api.context.clock.now(),
    ]);
    expect(await heard.untilEnd()).toBe('ERROR');
    expect(heard.closeCode()).toBe(4403);
    const count = heard.events.length;
    await walkToRunning(api, id);
    await untilNothingIsFollowed(api);
    expect(heard.events).toHaveLength(count);
  });

  it('obeys scopes and limits before it executes', async () => {
    const token = await api.tokenOf(api.tenantId, ['assets:write']);
    const forbidden = listen(api.socket({ apiKey: token }), FEED);
    expect(await forbidden.untilEnd()).toBe('ERROR');
    expect(forbidden.errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    for (const [query, code] of [
      [
        `{ viewer { ${Array.from({ length: 40 }, (_, i) => `a${i}: scopes`).join(' ')} } }`,
        'QUERY_TOO_COMPLEX',
      ],
      [`{ viewer { ${'scopes '.repeat(5000)} } }`, 'QUERY_TOO_COMPLEX'],
      ['{ viewer {', 'GRAPHQL_PARSE_FAILED'],
      ['{ nonsense }', 'GRAPHQL_VALIDATION_FAILED'],
    ] as const) {
      const client = api.socket();
      const heard = listen(client, query);
      expect(await heard.untilEnd()).toBe('ERROR');
      expect(heard.errors.map(({ extensions }) => extensions['code'])).toContain(code);
      await client.dispose();
    }
  });

  it('serves queries and mutations, too', async () => {
    const client = api.socket();
    const heard = listen(client, CREATE, { input: { ...REQUEST, idempotencyKey: randomUUID() } });
    expect(await heard.untilEnd()).toBe('COMPLETE');
    expect(heard.events).toMatchObject([{ generation: { status: 'QUEUED' }, userErrors: [] }]);
    await client.dispose();
  });
});

describe('a subscription to an asset', () => {
  it('begins with its state and completes when it is READY or was not accepted', async () => {
    const api = await open({ liveReadMs: NEVER_MS });
    const { client, heard, id, uuid, reject } = await followAsset(api);
    await reject();
    await api.pubSub.publish(topics.asset(uuid), {});
    expect(await heard.untilEnd()).toBe('COMPLETE');
    expect(heard.events).toMatchObject([
      { status: 'UPLOADING', asset: { rejection: null } },
      { status: 'REJECTED', asset: { rejection: { code: 'UNSUPPORTED_TYPE' } } },
    ]);
    const foreign = listen(
      api.socket({ apiKey: await api.tokenOf(await api.addTenant()) }),
      'subscription ($id: ID!) { assetUpdated(id: $id) { status } }',
      { id },
    );
    expect(await foreign.untilEnd()).toBe('ERROR');
    await client.dispose();
  });
});

describe('a server that stops', () => {
  it('tells its subscribers to go away, and leaves nothing open', async () => {
    const api = await open({ liveReadMs: NEVER_MS });
    const heard = listen(api.socket(), UPDATED, { id: await api.create() });
    await heard.untilEvents(1);
    await api.close();
    expect(await heard.untilEnd()).toBe('ERROR');
    expect(heard.closeCode()).toBe(1001);
  });
});
