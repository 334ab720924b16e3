import { toPublicId, toUuid } from '../../../src/resolvers/public-id';
import { listen } from './support/listen';
import { startApi, type RunningApi } from './support/running-api';
import { walkToRunning, walkToSuccess } from './support/walk-generation';

let api: RunningApi;
let stranger: string;
/** Ids of everything that the first tenant has, by kind. */
const ids: Record<string, string> = {};

const insertOutput = async (generationId: string): Promise<void> => {
  const { context, tenantId } = api;
  const now = context.clock.now();
  const taskId = toUuid('generation', generationId);
  const rawId = context.ids.next(now);
  for (const [kind, id, parentAssetId] of [
    ['RAW_OUTPUT', rawId, null],
    ['PROXY', context.ids.next(now), rawId],
    ['THUMBNAIL', context.ids.next(now), rawId],
  ] as const) {
    await context.uow.stores.assets.insert(
      {
        id,
        tenantId,
        projectId: null,
        taskId,
        attemptId: null,
        parentAssetId,
        kind,
        status: 'READY',
        fileName: null,
        objectKey: `tenants/${tenantId}/assets/${id}/file`,
        quarantineKey: null,
        entryName: null,
        sizeBytes: 3n,
        sha256: 'a'.repeat(64),
        declaredMime: null,
        detectedMime: 'video/mp4',
        pipelineVersion: 1,
        businessKey: `test:${id}`,
      },
      now,
    );
  }
  const hlsId = context.ids.next(now);
  await context.uow.stores.assets.insert(
    {
      id: hlsId,
      tenantId,
      projectId: null,
      taskId,
      attemptId: null,
      parentAssetId: rawId,
      kind: 'HLS',
      status: 'READY',
      fileName: null,
      objectKey: `tenants/${tenantId}/assets/${hlsId}/hls/1/`,
      quarantineKey: null,
      entryName: 'master.m3u8',
      sizeBytes: null,
      sha256: null,
      declaredMime: null,
      detectedMime: null,
      pipelineVersion: 1,
      businessKey: `test:${hlsId}`,
    },
    now,
  );
};

const insertAttempt = async (generationId: string): Promise<string> => {
  const { context, tenantId } = api;
  const now = context.clock.now();
  const id = context.ids.next(now);
  await context.uow.stores.attempts.insert(
    {
      id,
      tenantId,
      taskId: toUuid('generation', generationId),
      attemptNo: 1,
      providerId: 'sandbox',
      accountId: 'sandbox-main',
      model: 'sandbox-video-1',
      requestKey: id,
      callbackUrl: 'http://127.0.0.1/callback',
      sent: {
        endpoint: '/jobs',
        prompt: 'p',
        negativePrompt: null,
        seed: 1,
        aspectRatio: '16:9',
        resolution: '480p',
        durationMs: 2000,
        withAudio: true,
        imageAssetId: null,
        imageSha256: null,
        priceMicros: '6000000',
        costPerSecond: '0.05',
        costCurrency: 'USD',
        options: {},
      },
      slotToken: null,
    },
    now,
  );
  return toPublicId('attempt', id);
};

beforeAll(async () => {
  api = await startApi({ liveReadMs: 50 });
  stranger = await api.tokenOf(await api.addTenant());
  const done = await api.create();
  await walkToRunning(api, done);
  await walkToSuccess(api, done);
  await insertOutput(done);
  ids['generation'] = done;
  ids['attempt'] = await insertAttempt(done);
  ids['running'] = await api.create();
  const { data } = await api.ask(`{
    generation(id: "${done}") { ledgerEntries { id } outputs { id } }
    viewer { apiKey { id } tenant { id } }
  }`);
  ids['ledgerEntry'] = data.generation.ledgerEntries[0].id;
  ids['asset'] = data.generation.outputs[0].id;
  ids['apiKey'] = data.viewer.apiKey.id;
  ids['tenant'] = data.viewer.tenant.id;
  const quoted = await api.ask(
    `mutation { generationQuoteCreate(input: {model: "sandbox-video-1", prompt: "q", durationMs: 2000, resolution: "480p"}) { quote { id } } }`,
  );
  ids['quote'] = quoted.data.generationQuoteCreate.quote.id;
}, 60_000);
afterAll(() => api.close());

const KINDS = ['generation', 'attempt', 'asset', 'ledgerEntry', 'quote', 'apiKey'];
const NODE = 'query ($id: ID!) { node(id: $id) { __typename id } }';

describe('the owner', () => {
  it.each(KINDS)('finds a %s by its id', async (kind) => {
    const { data } = await api.ask(NODE, { id: ids[kind] });
    expect(data.node.id).toBe(ids[kind]);
    expect(data.node.__typename.toLowerCase()).toBe(kind.toLowerCase());
  });

  it('finds several in the order asked, with nulls for what is not there', async () => {
    const asked = [ids['asset'], 'nonsense', ids['generation'], ids['asset']];
    const { data } = await api.ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: asked,
    });
    expect(data.nodes).toEqual([{ id: asked[0] }, null, { id: asked[2] }, { id: asked[0] }]);
  });

  it('finds at most 100 at once, and is told so', async () => {
    const answer = await api.ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: Array.from({ length: 101 }, () => ids['asset']),
    });
    expect(answer.errors).toMatchObject([
      { message: expect.stringContaining('100'), extensions: { code: 'PAGE_SIZE_EXCEEDED' } },
    ]);
  });

  it('with a key that lacks the scope of a kind finds none of it', async () => {
    const token = await api.tokenOf(api.tenantId, ['assets:write']);
    const { data } = await api.ask(
      'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
      { ids: KINDS.map((kind) => ids[kind]) },
      { token },
    );
    expect(data.nodes.filter((node: unknown) => node !== null)).toEqual([{ id: ids['asset'] }]);
  });

  it('gets short-lived signed URLs of a result', async () => {
    const { data } = await api.ask(
      `query ($id: ID!) { generation(id: $id) { playback { url hlsUrl thumbnailUrl expiresAt } outputs { kind playback { url } } } }`,
      { id: ids['generation'] },
    );
    const { playback } = data.generation;
    expect(playback.url).toMatch(/signature=/);
    expect(playback.hlsUrl).toMatch(/\/p\/.+\/master\.m3u8$/);
    expect(playback.thumbnailUrl).toMatch(/signature=/);
    const lifeMs = new Date(playback.expiresAt).getTime() - api.context.clock.now().getTime();
    expect(lifeMs).toBeGreaterThan(0);
    expect(lifeMs).toBeLessThanOrEqual(api.context.settings.downloadTicketMs);
  });
});

describe('a stranger', () => {
  const ask = (query: string, variables: object = {}) =>
    api.ask(query, variables, { token: stranger });

  it.each(KINDS)('finds no %s by its id', async (kind) => {
    expect((await ask(NODE, { id: ids[kind] })).data).toEqual({ node: null });
  });

  it.each([
    ['generation', 'query ($id: ID!) { found: generation(id: $id) { id playback { url } } }'],
    ['asset', 'query ($id: ID!) { found: asset(id: $id) { id playback { url } } }'],
  ])('reads a %s exactly like an unknown one', async (kind, query) => {
    const prefix = kind === 'asset' ? 'ast' : 'gen';
    const foreign = await ask(query, { id: ids[kind] });
    const unknown = await ask(query, { id: `${prefix}_01h455vb4pex5vsknk084sn02q` });
    expect(foreign.data).toEqual({ found: null });
    expect(foreign.text).toBe(unknown.text);
  });

  it('sees none of it in any list', async () => {
    const { data } = await ask(
      `query ($id: ID!) {
      generations { nodes { id } }
      assets { nodes { id } }
      ledgerEntries { nodes { generationId } }
      ofGeneration: ledgerEntries(generationId: $id) { nodes { id } }
      apiKeys { id }
      balance { held }
    }`,
      { id: ids['generation'] },
    );
    expect(data.generations.nodes).toEqual([]);
    expect(data.assets.nodes).toEqual([]);
    expect(data.ledgerEntries.nodes).toEqual([{ generationId: null }]);
    expect(data.ofGeneration.nodes).toEqual([]);
    expect(data.apiKeys).toHaveLength(1);
    expect(data.balance).toEqual({ held: '0' });
  });

  it.each<[string, string, (id: string) => object]>([
    [
      'cancel',
      'mutation ($input: GenerationCancelInput!) { done: generationCancel(input: $input) { generation { id } userErrors { code message field } } }',
      (generationId) => ({ generationId }),
    ],
    [
      'revoke',
      'mutation ($input: ApiKeyRevokeInput!) { done: apiKeyRevoke(input: $input) { apiKey { id } userErrors { code message field } } }',
      (apiKeyId) => ({ apiKeyId }),
    ],
  ])(
    'can %s nothing of it, and is told what an unknown id is told',
    async (what, query, inputOf) => {
      const [own, unknown] =
        what === 'cancel'
          ? [ids['running'], 'gen_01h455vb4pex5vsknk084sn02q']
          : [ids['apiKey'], 'key_01h455vb4pex5vsknk084sn02q'];
      const foreign = await ask(query, { input: inputOf(own ?? '') });
      expect(foreign.data.done.userErrors).toHaveLength(1);
      expect(foreign.text).toBe((await ask(query, { input: inputOf(unknown ?? '') })).text);
      expect(
        (await api.ask('{ viewer { apiKey { revokedAt } } }')).data.viewer.apiKey.revokedAt,
      ).toBeNull();
      const { data } = await api.ask('query ($id: ID!) { generation(id: $id) { status } }', {
        id: ids['running'],
      });
      expect(data.generation.status).toBe('QUEUED');
    },
  );

  it('hears nothing of it', async () => {
    const client = api.socket({ apiKey: stranger });
    const one = listen(
      client,
      'subscription ($id: ID!) { generationUpdated(id: $id) { version } }',
      { id: ids['running'] },
    );
    expect(await one.untilEnd()).toBe('ERROR');
    expect(one.errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
    const feed = listen(client, 'subscription { generationsUpdated { generation { id } } }');
    const own = await api.create({}, { token: stranger });
    await walkToRunning(api, ids['running'] ?? '');
    await walkToRunning(api, own);
    await feed.untilEvents(1);
    expect(new Set(feed.events.map(({ generation }) => generation.id))).toEqual(new Set([own]));
    await client.dispose();
  });

  it('without the operator’s scope decides and grants nothing', async () => {
    const token = await api.tokenOf(api.tenantId, [
      'generations:write',
      'keys:admin',
      'ledger:read',
    ]);
    for (const mutation of [
      `creditsGrant(input: {tenantId: "${ids['tenant']}", amount: "5", reference: "x", reason: "y"}) { repeated }`,
      `generationReviewDecide(input: {generationId: "${ids['running']}", verdict: REJECT, reason: "y"}) { userErrors { code } }`,
      `assetReviewDecide(input: {assetId: "${ids['asset']}", verdict: REJECT, reason: "y"}) { userErrors { code } }`,
    ]) {
      const answer = await api.ask(`mutation { ${mutation} }`, {}, { token });
      expect(answer.status).toBe(403);
      expect(answer.errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    }
  });
});

describe('an operator', () => {
  it('decides a prompt that waits for a person: an approval reserves and queues, a rejection ends', async () => {
    const decide = async (generationId: string, verdict: string, reason = 'looked at it') =>
      (
        await api.ask(
          `mutation ($input: GenerationReviewDecideInput!) { generationReviewDecide(input: $input) {
            generation { status reserved failure { code } } userErrors { code } } }`,
          { input: { generationId, verdict, reason } },
        )
      ).data.generationReviewDecide;
    const waiting = await api.create({ prompt: 'a nude statue' });
    const { data } = await api.ask(
      'query ($id: ID!) { generation(id: $id) { status reserved waiting { reason } } }',
      { id: waiting },
    );
    expect(data.generation).toEqual({
      status: 'VALIDATING',
      reserved: '0',
      waiting: { reason: 'REVIEW' },
    });
    expect(await decide(waiting, 'APPROVE', ' ')).toMatchObject({
      userErrors: [{ code: 'REASON_REQUIRED' }],
    });
    expect(await decide(waiting, 'APPROVE')).toMatchObject({
      generation: { status: 'QUEUED', reserved: '6' },
    });
    expect(await decide(waiting, 'APPROVE')).toMatchObject({
      userErrors: [{ code: 'NOT_IN_REVIEW' }],
    });
    const refused = await api.create({ prompt: 'another nude statue' });
    expect(await decide(refused, 'REJECT')).toMatchObject({
      generation: { status: 'FAILED_FINAL', failure: { code: 'MODERATION_REJECTED' } },
    });
  });

  it('grants credits once for a reference', async () => {
    const grant = async (input: object) =>
      (
        await api.ask(
          `mutation ($input: CreditsGrantInput!) { creditsGrant(input: $input) { balance { available } repeated userErrors { code } } }`,
          {
            input: {
              tenantId: ids['tenant'],
              amount: '2.5',
              reference: 'invoice-7',
              reason: 'paid',
              ...input,
            },
          },
        )
      ).data.creditsGrant;
    const first = await grant({});
    expect(first).toMatchObject({ repeated: false, userErrors: [] });
    expect(await grant({})).toEqual({ ...first, repeated: true });
    expect(await grant({ amount: '3' })).toMatchObject({
      userErrors: [{ code: 'REFERENCE_CONFLICT' }],
    });
    expect(await grant({ amount: '0', reference: 'r' })).toMatchObject({
      userErrors: [{ code: 'AMOUNT_INVALID' }],
    });
    expect(await grant({ reason: '' })).toMatchObject({
      userErrors: [{ code: 'REASON_REQUIRED' }],
    });
    expect(await grant({ tenantId: 'nobody' })).toMatchObject({
      userErrors: [{ code: 'TENANT_NOT_FOUND' }],
    });
  });
});
