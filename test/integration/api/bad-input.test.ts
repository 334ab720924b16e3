import { createHash, randomUUID } from 'node:crypto';

import WebSocket from 'ws';

import { createPostgresOutboxMover } from '../../../src/adapters/postgres/bus/outbox-mover';
import { createPostgresBus } from '../../../src/adapters/postgres/bus/postgres-bus';
import { createSignatureScanner } from '../../../src/adapters/malware/signature-scanner';
import { createMediaToolkit } from '../../../src/adapters/media/media-toolkit';
import { createRuleModeration, DEFAULT_RULES } from '../../../src/adapters/moderation/rule-set';
import { createTempFolders } from '../../../src/adapters/scratch/temp-folders';
import { createValidationConsumer } from '../../../src/flow/upload/validate-asset';
import { toPublicId } from '../../../src/resolvers/public-id';
import { MEDIA_LIMITS } from '../../support/flow/flow-parts';
import { fixtureTools } from '../../support/media-fixtures';
import { listen } from './support/listen';
import { CREATE, REQUEST, useApi, type RunningApi } from './support/running-api';

const running = useApi();

const UPLOAD = `mutation ($input: AssetUploadCreateInput!) {
  assetUploadCreate(input: $input) {
    asset { id status }
    upload { url method headers { name value } }
    userErrors { message code field }
  }
}`;

const COMPLETE = `mutation ($input: AssetUploadCompleteInput!) {
  assetUploadComplete(input: $input) { asset { id status } userErrors { message code field } }
}`;

/** Everything that a refusal must leave alone. */
const written = async (api: RunningApi): Promise<unknown> => ({
  tasks: await api.count('generation_tasks'),
  holds: await api.count('holds'),
  ledger: await api.count('credit_ledger'),
  outbox: await api.count('outbox_events'),
  history: await api.count('task_state_events'),
  balance: await api.context.uow.stores.money.readBalance(api.tenantId),
});

const describeFile = (bytes: Buffer, contentType: string, fileName = 'clip.mp4') => ({
  fileName,
  contentType,
  sizeBytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
});

const openUpload = async (api: RunningApi, input: object) =>
  (await api.ask(UPLOAD, { input })).data.assetUploadCreate;

const send = async (
  upload: { url: string; method: string; headers: { name: string; value: string }[] },
  bytes: Buffer,
): Promise<Response> =>
  fetch(upload.url, {
    method: upload.method,
    headers: Object.fromEntries(upload.headers.map(({ name, value }) => [name, value])),
    body: new Uint8Array(bytes),
  });

/** Does the asset validator's work on everything that waits for it. */
const validateUploads = async ({ context, database, objects, log }: RunningApi): Promise<void> => {
  const { pool } = database;
  const bus = createPostgresBus({ pool, log, deliveriesMax: 5 });
  const now = context.clock.now();
  await createPostgresOutboxMover({ pool }).moveBatch(now, 100);
  const { ffmpeg, ffprobe } = await fixtureTools();
  const consume = createValidationConsumer(context, {
    objects: objects.store,
    toolkit: createMediaToolkit({ ffmpeg, ffprobe, tempDir: objects.tempDir }),
    scratch: createTempFolders(objects.tempDir),
    moderation: createRuleModeration(DEFAULT_RULES),
    malware: createSignatureScanner(new Map()),
    limits: MEDIA_LIMITS,
  });
  const options = { max: 10, leaseMs: 10_000, now: context.clock.now() };
  for (const delivery of await bus.receive('asset-validator', options)) {
    await consume(delivery.envelope, new AbortController().signal);
    await bus.acknowledge('asset-validator', [delivery]);
  }
};

const statusOf = async (api: RunningApi, id: string) =>
  (
    await api.ask(
      'query ($id: ID!) { asset(id: $id) { status rejection { code } playback { url } } }',
      { id },
    )
  ).data.asset;

describe('a generation that cannot be created', () => {
  it.each<[string, object, string, string | null]>([
    ['an unknown model', { model: 'no-such-model' }, 'MODEL_NOT_FOUND', 'model'],
    ['an empty prompt', { prompt: ' \n\t ' }, 'PROMPT_EMPTY', 'prompt'],
    [
      'a prompt longer than the model takes',
      { prompt: 'x'.repeat(201) },
      'PROMPT_TOO_LONG',
      'prompt',
    ],
    ['an impossible size', { resolution: '9000p' }, 'RESOLUTION_UNSUPPORTED', 'resolution'],
    ['an impossible shape', { aspectRatio: '1:100' }, 'ASPECT_RATIO_UNSUPPORTED', 'aspectRatio'],
    ['an impossible duration', { durationMs: 3_600_000 }, 'DURATION_UNSUPPORTED', 'durationMs'],
    ['a duration between the steps', { durationMs: 2_500 }, 'DURATION_UNSUPPORTED', 'durationMs'],
    ['a negative seed', { seed: -1 }, 'SEED_INVALID', 'seed'],
    ['a forbidden prompt', { prompt: 'a beheading' }, 'MODERATION_REJECTED', 'prompt'],
    [
      'an unknown asset',
      { imageAssetId: 'ast_01h455vb4pex5vsknk084sn02q' },
      'ASSET_NOT_FOUND',
      'imageAssetId',
    ],
    ['garbage as an asset', { imageAssetId: 'gar bage' }, 'ASSET_NOT_FOUND', 'imageAssetId'],
    [
      'an unknown quote',
      { quoteId: 'quo_01h455vb4pex5vsknk084sn02q' },
      'QUOTE_NOT_FOUND',
      'quoteId',
    ],
    [
      'an unknown project',
      { projectId: 'prj_01h455vb4pex5vsknk084sn02q' },
      'PROJECT_NOT_FOUND',
      'projectId',
    ],
    ['a ceiling below the price', { maxCredits: '5.999999' }, 'PRICE_ABOVE_MAX', 'maxCredits'],
    ['no idempotency key', { idempotencyKey: null }, 'IDEMPOTENCY_KEY_INVALID', 'idempotencyKey'],
    [
      'an idempotency key with spaces',
      { idempotencyKey: 'a b' },
      'IDEMPOTENCY_KEY_INVALID',
      'idempotencyKey',
    ],
    [
      'a long idempotency key',
      { idempotencyKey: 'k'.repeat(256) },
      'IDEMPOTENCY_KEY_INVALID',
      'idempotencyKey',
    ],
  ])('because of %s says so, writes nothing and charges nothing', async (_, input, code, field) => {
    const api = running();
    const before = await written(api);
    const answer = await api.ask(CREATE, {
      input: { ...REQUEST, idempotencyKey: randomUUID(), ...input },
    });
    expect(answer.errors).toEqual([]);
    expect(answer.status).toBe(200);
    expect(answer.data.generationCreate).toEqual({
      generation: null,
      replayed: false,
      userErrors: [{ code, field, message: expect.stringMatching(/\w/) }],
    });
    expect(await written(api)).toEqual(before);
  });

  it('because of another tenant’s asset reads exactly as because of an unknown one', async () => {
    const api = running();
    const foreign = await api.ask(
      UPLOAD,
      { input: describeFile(Buffer.from('x'), 'image/png', 'a.png') },
      { token: await api.tokenOf(await api.addTenant()) },
    );
    const create = async (imageAssetId: string) =>
      (await api.ask(CREATE, { input: { ...REQUEST, idempotencyKey: randomUUID(), imageAssetId } }))
        .text;
    const ofForeign = await create(foreign.data.assetUploadCreate.asset.id);
    expect(ofForeign).toContain('ASSET_NOT_FOUND');
    expect(ofForeign).toBe(await create('ast_01h455vb4pex5vsknk084sn02q'));
  });

  it('because the asset is not READY', async () => {
    const api = running();
    const { asset } = await openUpload(api, describeFile(Buffer.from('x'), 'image/png', 'a.png'));
    const { data } = await api.ask(CREATE, {
      input: { ...REQUEST, idempotencyKey: randomUUID(), imageAssetId: asset.id },
    });
    expect(data.generationCreate.userErrors).toMatchObject([{ code: 'ASSET_NOT_READY' }]);
  });

  it('because the credits do not suffice leaves the key free for later', async () => {
    const api = running();
    const tenantId = await api.addTenant({ credits: 5n });
    const token = await api.tokenOf(tenantId);
    const input = { ...REQUEST, idempotencyKey: randomUUID() };
    const refused = await api.ask(CREATE, { input }, { token });
    expect(refused.data.generationCreate.userErrors).toMatchObject([
      { code: 'INSUFFICIENT_CREDITS' },
    ]);
    const granted = await api.ask(
      `mutation ($input: CreditsGrantInput!) { creditsGrant(input: $input) { balance { available } userErrors { code } } }`,
      {
        input: {
          tenantId: toPublicId('tenant', tenantId),
          amount: '1',
          reference: 'r-1',
          reason: 'trial',
        },
      },
    );
    expect(granted.data.creditsGrant).toEqual({ balance: { available: '6' }, userErrors: [] });
    const accepted = await api.ask(CREATE, { input }, { token });
    expect(accepted.status).toBe(202);
    expect(accepted.data.generationCreate).toMatchObject({
      generation: { price: '6', reserved: '6' },
      replayed: false,
      userErrors: [],
    });
  });
});

describe('an amount beyond what can be kept', () => {
  const GRANT = `mutation ($input: CreditsGrantInput!) {
    creditsGrant(input: $input) { repeated userErrors { code field } }
  }`;
  const grant = (api: RunningApi, amount: string) => {
    const tenantId = toPublicId('tenant', api.tenantId);
    const input = { tenantId, amount, reference: randomUUID(), reason: 'trial' };
    return api.ask(GRANT, { input });
  };

  it.each(['9223372036854', '1000000000.000001'])('%s is no grant', async (amount) => {
    const api = running();
    const before = await written(api);
    const answer = await grant(api, amount);
    expect(answer.errors).toEqual([]);
    expect(answer.data.creditsGrant.userErrors).toEqual([
      { code: 'AMOUNT_INVALID', field: 'amount' },
    ]);
    expect(await written(api)).toEqual(before);
  });

  it.each(['9223372036854.775808', '9999999999999'])('%s is no money at all', async (amount) => {
    const api = running();
    const input = { ...REQUEST, idempotencyKey: randomUUID(), maxCredits: amount };
    for (const answer of [await grant(api, amount), await api.ask(CREATE, { input })]) {
      expect(answer.status).toBe(400);
      expect(answer.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    }
  });

  it('is not the largest grant', async () => {
    const { data } = await grant(running(), '1000000000');
    expect(data.creditsGrant).toEqual({ repeated: false, userErrors: [] });
  });
});

describe('an upload that cannot be used', () => {
  it.each<[string, object, string]>([
    ['no bytes', { sizeBytes: 0 }, 'EMPTY_FILE'],
    ['a negative size', { sizeBytes: -1 }, 'EMPTY_FILE'],
    ['too many bytes', { sizeBytes: 50_000_001 }, 'FILE_TOO_LARGE'],
    ['a type that is not taken', { contentType: 'text/html' }, 'UNSUPPORTED_TYPE'],
    ['a checksum that is none', { sha256: 'abc' }, 'CHECKSUM_INVALID'],
    ['no name', { fileName: '' }, 'FILE_NAME_INVALID'],
    ['control characters in its name', { fileName: 'a\nb' }, 'FILE_NAME_INVALID'],
  ])('because of %s is refused before anything is written', async (_, input, code) => {
    const api = running();
    const before = await api.count('assets');
    const answer = await openUpload(api, {
      ...describeFile(Buffer.from('x'), 'video/mp4'),
      ...input,
    });
    expect(answer).toMatchObject({ asset: null, upload: null, userErrors: [{ code }] });
    expect(await api.count('assets')).toBe(before);
  });

  it('with other bytes than declared is not stored, and complete says what is missing', async () => {
    const api = running();
    const { asset, upload } = await openUpload(api, describeFile(Buffer.from('one'), 'video/mp4'));
    const stored = await send(upload, Buffer.from('two'));
    expect(stored.status).toBeGreaterThanOrEqual(400);
    const { data } = await api.ask(COMPLETE, { input: { assetId: asset.id } });
    expect(data.assetUploadComplete).toMatchObject({
      asset: null,
      userErrors: [{ code: 'UPLOAD_INCOMPLETE', field: 'assetId' }],
    });
  });

  it('as a text named .mp4 is rejected by its bytes and never served', async () => {
    const api = running();
    const bytes = Buffer.from('this is no video at all\n'.repeat(50));
    const { asset, upload } = await openUpload(api, describeFile(bytes, 'video/mp4'));
    expect((await send(upload, bytes)).ok).toBe(true);
    const completed = await api.ask(COMPLETE, { input: { assetId: asset.id } });
    expect(completed.data.assetUploadComplete).toMatchObject({ asset: { status: 'VALIDATING' } });
    await validateUploads(api);
    expect(await statusOf(api, asset.id)).toEqual({
      status: 'REJECTED',
      rejection: { code: 'UNSUPPORTED_TYPE' },
      playback: null,
    });
  });

  it('that is another tenant’s is unknown', async () => {
    const api = running();
    const { asset } = await openUpload(api, describeFile(Buffer.from('x'), 'video/mp4'));
    const token = await api.tokenOf(await api.addTenant());
    const complete = async (assetId: string) =>
      (await api.ask(COMPLETE, { input: { assetId } }, { token })).text;
    const ofForeign = await complete(asset.id);
    expect(ofForeign).toContain('ASSET_NOT_FOUND');
    expect(ofForeign).toBe(await complete('ast_01h455vb4pex5vsknk084sn02q'));
  });
});

describe('a request that cannot be read', () => {
  const code = (code: string) => ({
    extensions: expect.objectContaining({ code, retryable: false }),
  });

  it('because its JSON is broken answers in the shape of GraphQL', async () => {
    const answer = await running().post('{"query": "{ viewer', {
      authorization: `Bearer ${running().token}`,
    });
    expect(answer.status).toBe(400);
    expect(answer.errors).toEqual([expect.objectContaining(code('BAD_JSON'))]);
    expect(answer.errors[0]?.extensions['requestId']).toBe(answer.headers.get('x-request-id'));
    expect(answer.text).not.toContain('SyntaxError');
  });

  it.each([
    ['a syntax error', '{ viewer { ', 'GRAPHQL_PARSE_FAILED'],
    ['an unknown field', '{ viewer { nonsense } }', 'GRAPHQL_VALIDATION_FAILED'],
    [
      'a value of another type',
      '{ generations(first: "x") { nodes { id } } }',
      'GRAPHQL_VALIDATION_FAILED',
    ],
  ])('because of %s answers 400 with a code', async (_, query, expected) => {
    const answer = await running().ask(query);
    expect(answer.status).toBe(400);
    expect(answer.errors[0]).toMatchObject(code(expected));
    expect(answer.errors[0]?.extensions['requestId']).toBe(answer.headers.get('x-request-id'));
    expect(answer.text).not.toContain('stacktrace');
  });

  it.each([
    ['a variable that is missing', { input: {} }],
    ['a number that is no Int', { input: { ...REQUEST, idempotencyKey: 'k', durationMs: 1.5 } }],
    ['a number beyond Int', { input: { ...REQUEST, idempotencyKey: 'k', seed: 2 ** 40 } }],
    ['money as a float', { input: { ...REQUEST, idempotencyKey: 'k', maxCredits: 1.5 } }],
    ['a NUL in a text', { input: { ...REQUEST, idempotencyKey: 'k', prompt: 'a\0b' } }],
    ['half a surrogate pair', { input: { ...REQUEST, idempotencyKey: 'k', prompt: 'a\ud800b' } }],
    [
      'a text of 60,000 characters',
      { input: { ...REQUEST, idempotencyKey: 'k', prompt: 'x'.repeat(60_000) } },
    ],
  ])('because of %s is an error of the input, and writes nothing', async (_, variables) => {
    const api = running();
    const before = await written(api);
    const answer = await api.ask(CREATE, variables);
    expect(answer.errors[0]).toMatchObject(code('BAD_USER_INPUT'));
    expect(answer.data).toBeNull();
    expect(await written(api)).toEqual(before);
  });

  it.each([
    ['no key', null],
    ['a key that is none', 'nonsense'],
    ['an unknown key', `avk_${'0'.repeat(12)}_${'A'.repeat(43)}`],
  ])('because it carries %s is unauthenticated', async (_, token) => {
    const answer = await running().ask('{ viewer { scopes } }', {}, { token });
    expect(answer.status).toBe(401);
    expect(answer.errors[0]).toMatchObject(code('UNAUTHENTICATED'));
  });

  it('because its key lacks the scope is forbidden, and names the scope', async () => {
    const api = running();
    const token = await api.tokenOf(api.tenantId, ['generations:read']);
    const answer = await api.ask(CREATE, { input: { ...REQUEST, idempotencyKey: 'k' } }, { token });
    expect(answer.status).toBe(403);
    expect(answer.errors[0]).toMatchObject(code('FORBIDDEN'));
    expect(answer.errors[0]?.message).toContain('generations:write');
  });
});

describe('what nests deeper than a stack', () => {
  const nest = (levels: number): string => `${'['.repeat(levels)}1${']'.repeat(levels)}`;
  const options = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  const TOO_DEEP = [{ extensions: { code: 'INPUT_TOO_DEEP', retryable: false } }];
  const VIEWER = '{ viewer { scopes } }';

  it.each([
    ['variables', `{"query":"${VIEWER}","variables":{"input":${nest(5_000)}}}`],
    [
      'provider options',
      JSON.stringify({
        query: CREATE,
        variables: { input: { ...REQUEST, idempotencyKey: 'deep', providerOptions: 'HERE' } },
      }).replace('"HERE"', options(3_000)),
    ],
    ['a literal', JSON.stringify({ query: `{ asset(id: ${'['.repeat(20_000)}) { id } }` })],
    ['a literal of 201', JSON.stringify({ query: `{ asset(id: ${nest(201)}) { id } }` })],
    ['a body of 65', `{"query":"${VIEWER}","variables":{"input":${nest(63)}}}`],
  ])('is refused before anything is parsed: %s', async (_, body) => {
    const api = running();
    const before = await written(api);
    const answer = await api.post(body, { authorization: `Bearer ${api.token}` });
    expect(answer.status).toBe(400);
    expect(answer.errors).toMatchObject(TOO_DEEP);
    expect(answer.errors[0]?.extensions['requestId']).toBe(answer.headers.get('x-request-id'));
    expect(await written(api)).toEqual(before);
  });

  it.each([
    ['query', `{ asset(id: ${nest(3_000)}) { id } }`],
    ['variables', `{"input":${nest(3_000)}}`],
  ])('is refused in the URL of a GET as well: %s', async (name, text) => {
    const url = new URL(`${running().url}/graphql`);
    url.search = String(new URLSearchParams({ query: VIEWER, [name]: text })).replace(
      /%5B|%5D/g,
      (bracket) => decodeURIComponent(bracket),
    );
    const response = await fetch(url, { headers: { 'apollo-require-preflight': 'yes' } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: TOO_DEEP });
  });

  it('is something else where the brackets are text', async () => {
    const api = running();
    const brackets = '['.repeat(1_000);
    const query = `# ${brackets}\n{ a: asset(id: "${brackets}") { id } b: asset(id: """\\"""${brackets}""") { id } }`;
    const answer = await api.ask(query, { spare: brackets });
    expect(answer.status).toBe(200);
    expect(answer.data).toEqual({ a: null, b: null });
  });

  it('is refused on a socket, which goes on', async () => {
    const client = running().socket();
    for (const [query, variables] of [
      [VIEWER, { input: JSON.parse(nest(3_000)) as unknown }],
      [`{ asset(id: ${'['.repeat(20_000)}) { id } }`, {}],
    ] as const) {
      const heard = listen(client, query, variables);
      expect(await heard.untilEnd()).toBe('ERROR');
      expect(heard.errors).toMatchObject(TOO_DEEP);
    }
    const heard = listen(client, VIEWER);
    expect(await heard.untilEnd()).toBe('COMPLETE');
    await client.dispose();
  });

  it.each([
    ['the parameters of a connection', 'connection_init'],
    ['a ping', 'ping'],
  ])('closes the socket as a bad request: %s', async (_, type) => {
    const url = `${running().url.replace('http', 'ws')}/graphql`;
    const socket = new WebSocket(url, 'graphql-transport-ws');
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    socket.once('open', () => socket.send(`{"type":"${type}","payload":${options(20_000)}}`));
    expect(await closed).toBe(4400);
  });
});

describe('a body that is no UTF-8', () => {
  it('is not read as if it were another text', async () => {
    const api = running();
    const body = Buffer.concat([
      Buffer.from('{"query":"{ viewer { scopes } }","variables":{"spare":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}}'),
    ]);
    const answer = await api.post(body, { authorization: `Bearer ${api.token}` });
    expect(answer.status).toBe(400);
    expect(answer.errors).toMatchObject([
      { message: 'The body is not valid UTF-8.', extensions: { code: 'BAD_JSON' } },
    ]);
  });

  it('is refused by its declared charset', async () => {
    const answer = await running().post(Buffer.from('{"query":"{ __typename }"}', 'utf16le'), {
      'content-type': 'application/json; charset=utf-16le',
    });
    expect(answer.status).toBe(415);
    expect(answer.errors).toMatchObject([{ extensions: { code: 'UNSUPPORTED_MEDIA_TYPE' } }]);
  });
});
