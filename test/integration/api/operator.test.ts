import { toPublicId, toUuid } from '../../../src/resolvers/public-id';
import { useApi, type RunningApi } from './support/running-api';
import { walk } from './support/walk-generation';

const api = useApi();
const NOTHING = '00000000-0000-7000-8000-000000000000';

interface Mutation {
  readonly name: string;
  /** Fields beside the reason, for a thing that is not there. */
  readonly nowhere: Readonly<Record<string, unknown>>;
}

const MUTATIONS: readonly Mutation[] = [
  {
    name: 'generationReviewDecide',
    nowhere: { generationId: toPublicId('generation', NOTHING), verdict: 'APPROVE' },
  },
  {
    name: 'assetReviewDecide',
    nowhere: { assetId: toPublicId('asset', NOTHING), verdict: 'REJECT' },
  },
  {
    name: 'unknownSubmitDecide',
    nowhere: { attemptId: toPublicId('attempt', NOTHING), verdict: 'GIVE_UP' },
  },
  { name: 'generationRequeue', nowhere: { generationId: toPublicId('generation', NOTHING) } },
  { name: 'generationStop', nowhere: { generationId: toPublicId('generation', NOTHING) } },
  {
    name: 'outputDecide',
    nowhere: { generationId: toPublicId('generation', NOTHING), verdict: 'FETCH_NEXT' },
  },
  { name: 'mediaRetry', nowhere: { generationId: toPublicId('generation', NOTHING) } },
  { name: 'messageReplay', nowhere: { messageId: toPublicId('message', NOTHING) } },
  {
    name: 'providerEventReplay',
    nowhere: { providerEventId: toPublicId('providerEvent', NOTHING) },
  },
  { name: 'assetRelease', nowhere: { assetId: toPublicId('asset', NOTHING) } },
  { name: 'providerPause', nowhere: { providerId: 'nobody' } },
  { name: 'providerResume', nowhere: { providerId: 'nobody' } },
  { name: 'tenantPause', nowhere: { tenantId: toPublicId('tenant', NOTHING) } },
  { name: 'tenantResume', nowhere: { tenantId: toPublicId('tenant', NOTHING) } },
  { name: 'findingResolve', nowhere: { findingId: toPublicId('finding', NOTHING) } },
];

const LISTS = [
  'generationsInReview { nodes { id } }',
  'generationsNeedingOperator { nodes { id } }',
  'unknownSubmits { nodes { id } }',
  'findings { nodes { id } }',
  'deadMessages { nodes { id } }',
  'auditEntries { nodes { id } }',
  'tenants { nodes { id } }',
  'providers { id }',
];

const give = (name: string, input: object, token?: string) => {
  const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input!`;
  return api().ask(
    `mutation ($input: ${type}) { ${name}(input: $input) { userErrors { __typename message field ... on ${type.replace('Input!', 'Error')} { code } } } }`,
    { input },
    token === undefined ? {} : { token },
  );
};

const codesOf = async (name: string, input: object): Promise<string[]> => {
  const { data, errors } = await give(name, input);
  expect(errors).toEqual([]);
  return data[name].userErrors.map(({ code }: { code: string }) => code);
};

/** A key of a tenant with every scope but the operator's. */
const tenantToken = async ({ tokenOf, tenantId }: RunningApi): Promise<string> =>
  tokenOf(tenantId, [
    'assets:write',
    'generations:write',
    'generations:read',
    'ledger:read',
    'keys:admin',
  ]);

describe('the operator scope', () => {
  it.each(MUTATIONS)('is needed for $name', async ({ name, nowhere }) => {
    const before = await api().count('audit_log');
    const { errors } = await give(name, { reason: 'r', ...nowhere }, await tenantToken(api()));
    expect(errors.map(({ extensions }) => extensions['code'])).toEqual(['FORBIDDEN']);
    expect(await api().count('audit_log')).toBe(before);
  });

  it.each(LISTS)('is needed for the list %s', async (list) => {
    const token = await tenantToken(api());
    const { errors } = await api().ask(`{ ${list} }`, {}, { token });
    expect(errors.map(({ extensions }) => extensions['code'])).toEqual(['FORBIDDEN']);
    expect((await api().ask(`{ ${list} }`)).errors).toEqual([]);
  });
});

describe('an order', () => {
  it.each(MUTATIONS)('$name of what is not there is NOT_FOUND and leaves no row', async (each) => {
    const before = await api().count('audit_log');
    expect(await codesOf(each.name, { reason: 'because', ...each.nowhere })).toEqual(['NOT_FOUND']);
    expect(await api().count('audit_log')).toBe(before);
  });

  it('of an id of another kind is NOT_FOUND', async () => {
    const { tenantId } = api();
    const generationId = toPublicId('tenant', tenantId);
    expect(await codesOf('generationStop', { generationId, reason: 'because' })).toEqual([
      'NOT_FOUND',
    ]);
    expect(await codesOf('tenantPause', { tenantId: 'ten_nonsense', reason: 'because' })).toEqual([
      'NOT_FOUND',
    ]);
  });

  it('without a reason is refused and recorded', async () => {
    const generationId = await api().create();
    expect(await codesOf('generationStop', { generationId, reason: ' ' })).toEqual([
      'REASON_REQUIRED',
    ]);
    const { data } = await api().ask(
      `query ($id: String) { auditEntries(subjectId: $id) { nodes { action refusedWith reason subjectId subjectKind } } }`,
      { id: generationId },
    );
    expect(data.auditEntries.nodes).toEqual([
      {
        action: 'generation.stop',
        refusedWith: 'REASON_REQUIRED',
        reason: null,
        subjectId: generationId,
        subjectKind: 'GENERATION',
      },
    ]);
  });

  it.each([
    ['a reason that is too long', { reason: 'x'.repeat(1_001) }],
    ['a reason with a character that no text has', { reason: 'a\0b' }],
  ])('with %s is bad input', async (_, { reason }) => {
    const generationId = await api().create();
    const { errors } = await give('generationStop', { generationId, reason });
    expect(errors.map(({ extensions }) => extensions['code'])).toEqual(['BAD_USER_INPUT']);
  });

  it('stops a generation of any account, and the audit log says who, why, before and after', async () => {
    const other = await api().addTenant();
    const token = await api().tokenOf(other);
    const generationId = await api().create({}, { token });
    const { data } = await api().ask(
      `mutation ($input: GenerationStopInput!) { generationStop(input: $input) { generation { id status tenantId cancel { reason } } userErrors { code } } }`,
      { input: { generationId, reason: 'the tenant called' } },
    );
    expect(data.generationStop).toEqual({
      generation: {
        id: generationId,
        status: 'CANCELED',
        tenantId: toPublicId('tenant', other),
        cancel: { reason: 'OPERATOR' },
      },
      userErrors: [],
    });
    const log = await api().ask(
      `query ($id: String) { auditEntries(subjectId: $id) { nodes { actor action reason tenantId refusedWith before after } } viewer { apiKey { id } } }`,
      { id: generationId },
    );
    expect(log.data.auditEntries.nodes).toMatchObject([
      {
        action: 'generation.stop',
        reason: 'the tenant called',
        tenantId: toPublicId('tenant', other),
        refusedWith: null,
        before: { status: 'QUEUED' },
        after: { status: 'CANCELED', cancelReason: 'OPERATOR' },
      },
    ]);
    expect(log.data.auditEntries.nodes[0].actor).toBe(
      `api_key:${toUuid('apiKey', log.data.viewer.apiKey.id)}`,
    );
    expect(await codesOf('generationStop', { generationId, reason: 'again' })).toEqual([
      'ALREADY_FINISHED',
    ]);
  });
});

describe('an unknown submit', () => {
  it('is listed with its generation, and is not bound while the provider cannot be asked', async () => {
    const { context } = api();
    const generationId = await api().create();
    await walk(api(), generationId, 'dispatch_claimed', 'DISPATCHING');
    await walk(api(), generationId, 'submit_ambiguous', 'SUBMIT_UNKNOWN');
    const attemptId = await insertUnknown(generationId);
    const { data } = await api().ask(
      `{ unknownSubmits { nodes { id status generationId provider } pageInfo { hasNextPage } } }`,
    );
    expect(data.unknownSubmits.nodes).toContainEqual({
      id: attemptId,
      status: 'UNKNOWN',
      generationId,
      provider: 'sandbox',
    });
    const input = { attemptId, verdict: 'BIND', jobId: 'vid_1', reason: 'the vendor says so' };
    expect(await codesOf('unknownSubmitDecide', input)).toEqual(['PROVIDER_UNAVAILABLE']);
    const attempt = await context.uow.stores.attempts.read(toUuid('attempt', attemptId));
    expect(attempt?.status).toBe('UNKNOWN');
  });
});

/** As the provider worker leaves it when an answer is lost. */
const insertUnknown = async (generationId: string): Promise<string> => {
  const { context, tenantId, database } = api();
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
  for (const status of ['SENDING', 'UNKNOWN'])
    await database.pool.query('UPDATE task_attempts SET status = $1 WHERE id = $2', [status, id]);
  return toPublicId('attempt', id);
};

describe('the lists', () => {
  it('page through findings of all accounts by kind and by whether they are open', async () => {
    const { context } = api();
    for (let each = 0; each < 3; each += 1) {
      const now = context.clock.now();
      await context.uow.stores.findings.record({
        id: context.ids.next(now),
        kind: 'LATE_RESULT',
        subjectKind: 'attempt',
        subjectId: context.ids.next(now),
        tenantId: await api().addTenant(),
        detail: { each },
        actionTaken: null,
        now,
      });
    }
    const list = `query ($first: Int, $after: String, $resolved: Boolean) {
      findings(kind: [LATE_RESULT], first: $first, after: $after, resolved: $resolved) {
        nodes { id kind subjectId tenantId detail resolvedAt resolvedBy resolution } pageInfo { hasNextPage endCursor }
      }
    }`;
    const first = (await api().ask(list, { first: 2 })).data.findings;
    expect(first.nodes.map(({ detail }: { detail: object }) => detail)).toEqual([
      { each: 2 },
      { each: 1 },
    ]);
    expect(first.pageInfo.hasNextPage).toBe(true);
    expect(first.nodes[0].subjectId).toMatch(/^att_/);
    const rest = (await api().ask(list, { first: 2, after: first.pageInfo.endCursor })).data;
    expect(rest.findings.nodes.map(({ detail }: { detail: object }) => detail)).toEqual([
      { each: 0 },
    ]);
    const findingId = first.nodes[0].id;
    expect(await codesOf('findingResolve', { findingId, reason: 'told the vendor' })).toEqual([]);
    expect(await codesOf('findingResolve', { findingId, reason: 'me too' })).toEqual([
      'ALREADY_RESOLVED',
    ]);
    const resolved = (await api().ask(list, { resolved: true })).data.findings.nodes;
    expect(resolved).toMatchObject([{ id: findingId, resolution: 'told the vendor' }]);
    expect((await api().ask(list, { resolved: false })).data.findings.nodes).toHaveLength(2);
  });

  it('hold prompts in review and what needs a person, of all accounts', async () => {
    const token = await api().tokenOf(await api().addTenant());
    const reviewed = await api().create({ prompt: 'A nude statue by the sea' }, { token });
    const stuck = await api().create({}, { token });
    await api().database.pool.query(
      `UPDATE generation_tasks SET needs_operator = true WHERE id = $1`,
      [toUuid('generation', stuck)],
    );
    const { data } = await api().ask(
      `{ generationsInReview { nodes { id prompt } } generationsNeedingOperator { nodes { id needsOperator nextStep } } }`,
    );
    expect(data.generationsInReview.nodes).toEqual([
      { id: reviewed, prompt: 'A nude statue by the sea' },
    ]);
    expect(data.generationsNeedingOperator.nodes).toEqual([
      { id: stuck, needsOperator: true, nextStep: 'A person decides how it goes on.' },
    ]);
  });

  it('hold dead messages of outbox and bus, from either end, and a replay brings them back', async () => {
    const { database, context } = api();
    await database.pool.query('DELETE FROM outbox_events');
    await api().create();
    await database.pool.query(
      `UPDATE outbox_events SET status = 'DEAD', publish_attempts = 9, last_error = 'no bus' WHERE type = 'generation.queued'`,
    );
    const onBus = context.ids.next(context.clock.now());
    await database.pool.query(
      `INSERT INTO outbox_events (id, aggregate_type, aggregate_id, aggregate_version, type, schema_version, trace_id,
         payload, status, available_at, occurred_at)
       VALUES ($1, 'generation', $1, 1, 'generation.queued', 1, 't', '{}', 'PUBLISHED', $2, $2)`,
      [onBus, context.clock.now()],
    );
    await database.pool.query(
      `INSERT INTO bus_messages (consumer_group, event_id, type, envelope, status, available_at, deliveries, last_error, created_at)
       VALUES ('scheduler', $1, 'generation.queued', '{}', 'DEAD', $2, 20, 'broken', $2)`,
      [onBus, context.clock.now()],
    );
    const list = `query ($first: Int, $last: Int, $after: String) { deadMessages(first: $first, last: $last, after: $after) {
      nodes { id place consumerGroup type tries lastError } pageInfo { endCursor hasNextPage } } }`;
    const { nodes, pageInfo } = (await api().ask(list, { first: 1 })).data.deadMessages;
    expect(nodes).toEqual([
      {
        id: toPublicId('message', onBus),
        place: 'BUS',
        consumerGroup: 'scheduler',
        type: 'generation.queued',
        tries: 20,
        lastError: 'broken',
      },
    ]);
    expect(pageInfo.hasNextPage).toBe(true);
    const next = (await api().ask(list, { after: pageInfo.endCursor })).data.deadMessages.nodes;
    expect(next).toMatchObject([{ place: 'OUTBOX', tries: 9, lastError: 'no bus' }]);
    expect((await api().ask(list, { last: 1 })).data.deadMessages.nodes).toEqual(next);
    for (const messageId of [nodes[0].id, next[0].id]) {
      expect(await codesOf('messageReplay', { messageId, reason: 'mended' })).toEqual([]);
      expect(await codesOf('messageReplay', { messageId, reason: 'mended' })).toEqual(['NOT_DEAD']);
    }
    expect((await api().ask(list)).data.deadMessages.nodes).toEqual([]);
  });
});

describe('a pause', () => {
  it('of a provider is seen in its list, and a resume rings the scheduler', async () => {
    const order = { providerId: 'sandbox', reason: 'it is on fire' };
    const list = '{ providers { id status accounts { id status concurrentMax } } }';
    expect(await codesOf('providerPause', order)).toEqual([]);
    expect((await api().ask(list)).data.providers).toEqual([
      {
        id: 'sandbox',
        status: 'PAUSED',
        accounts: [{ id: 'sandbox-main', status: 'ACTIVE', concurrentMax: 10 }],
      },
    ]);
    const rings = api().rings.length;
    expect(await codesOf('providerPause', order)).toEqual(['ALREADY_PAUSED']);
    expect(api().rings).toHaveLength(rings);
    expect(await codesOf('providerResume', order)).toEqual([]);
    expect(api().rings).toHaveLength(rings + 1);
    expect(await codesOf('providerResume', order)).toEqual(['NOT_PAUSED']);
  });

  it('of an account is seen by both sides, refuses its creates and no others', async () => {
    const tenantId = await api().addTenant();
    const token = await api().tokenOf(tenantId);
    const order = { tenantId: toPublicId('tenant', tenantId), reason: 'unpaid' };
    expect(await codesOf('tenantPause', order)).toEqual([]);
    await expect(api().create({}, { token })).rejects.toThrow('TENANT_PAUSED');
    await api().create();
    const seen = await api().ask('{ viewer { tenant { status } } }', {}, { token });
    expect(seen.data.viewer.tenant.status).toBe('PAUSED');
    const { data } = await api().ask('{ tenants(first: 1) { nodes { id status } } }');
    expect(data.tenants.nodes).toEqual([{ id: order.tenantId, status: 'PAUSED' }]);
    expect(await codesOf('tenantResume', order)).toEqual([]);
    await api().create({}, { token });
  });
});
