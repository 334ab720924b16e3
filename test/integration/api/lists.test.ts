import { Client } from 'pg';

import { startApi, type RunningApi } from './support/running-api';

let api: RunningApi;
let ids: string[];

beforeAll(async () => {
  api = await startApi();
  const made: string[] = [];
  for (let i = 0; i < 25; i += 1) made.push(await api.create({ prompt: `number ${i}` }));
  ids = made.reverse();
}, 60_000);
afterAll(() => api.close());

const PAGE = `query ($first: Int, $after: String, $last: Int, $before: String, $status: [GenerationStatus!],
  $model: String, $createdAfter: DateTime, $createdBefore: DateTime) {
  generations(first: $first, after: $after, last: $last, before: $before, status: $status, model: $model,
    createdAfter: $createdAfter, createdBefore: $createdBefore) {
    edges { cursor node { id } }
    nodes { id }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;

const page = async (variables: object) => (await api.ask(PAGE, variables)).data.generations;
const idsOf = ({ nodes }: { nodes: { id: string }[] }): string[] => nodes.map(({ id }) => id);

describe('a list', () => {
  it('has 20 rows unless told, newest first', async () => {
    const first = await page({});
    expect(idsOf(first)).toEqual(ids.slice(0, 20));
    expect(first.edges.map(({ node }: { node: { id: string } }) => node.id)).toEqual(idsOf(first));
    expect(first.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  });

  it('is paged forward without loss or repetition while others are written', async () => {
    const seen: string[] = [];
    let after: string | null = null;
    for (;;) {
      const { pageInfo, ...rest } = await page({ first: 4, after });
      seen.push(...idsOf(rest));
      if (seen.length === 8) await api.create({ prompt: 'in between' });
      if (!pageInfo.hasNextPage) break;
      after = pageInfo.endCursor;
    }
    expect(seen).toEqual(ids);
  });

  it('is paged backward from the end', async () => {
    const end = await page({ last: 3 });
    expect(idsOf(end)).toEqual(ids.slice(-3));
    expect(end.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const before = await page({ last: 3, before: end.pageInfo.startCursor });
    expect(idsOf(before)).toEqual(ids.slice(-6, -3));
    expect(before.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
  });

  it.each([
    [{ first: 101 }, 'PAGE_SIZE_EXCEEDED', /1 to 100/],
    [{ first: 0 }, 'PAGE_SIZE_EXCEEDED', /1 to 100/],
    [{ last: -5 }, 'PAGE_SIZE_EXCEEDED', /1 to 100/],
    [{ first: 1, last: 1 }, 'BAD_USER_INPUT', /not both/],
    [{ after: 'nonsense' }, 'CURSOR_INVALID', /cursor/],
    [{ after: 'ast_01h455vb4pex5vsknk084sn02q' }, 'CURSOR_INVALID', /cursor/],
  ])('refuses %j and says why', async (variables, code, message) => {
    const answer = await api.ask(PAGE, variables);
    expect(answer.status).toBe(400);
    expect(answer.errors).toMatchObject([
      { message: expect.stringMatching(message), extensions: { code } },
    ]);
  });

  it('is filtered by status, model and time', async () => {
    const canceled = ids[3] as string;
    await api.ask(
      'mutation ($input: GenerationCancelInput!) { generationCancel(input: $input) { stopped } }',
      {
        input: { generationId: canceled },
      },
    );
    expect(idsOf(await page({ status: ['CANCELED'] }))).toEqual([canceled]);
    expect(idsOf(await page({ status: ['SUCCEEDED'] }))).toEqual([]);
    expect(idsOf(await page({ model: 'no-such-model' }))).toEqual([]);
    expect(idsOf(await page({ model: 'sandbox-video-1', first: 2 }))).toHaveLength(2);
    const { data } = await api.ask('query ($id: ID!) { generation(id: $id) { createdAt } }', {
      id: ids[10],
    });
    const at: string = data.generation.createdAt;
    expect(idsOf(await page({ createdBefore: at, first: 1 }))).toEqual([ids[11]]);
    expect(idsOf(await page({ createdAfter: at, last: 1 }))).toEqual([ids[10]]);
  });

  it('costs as many statements with 25 rows as with 2', async () => {
    const query = `query ($first: Int) { generations(first: $first) { nodes {
      id prompt parameters { seed } money { held } nextStep waiting { reason position }
      attempts { id status } events { type } ledgerEntries { kind } inputs { id } outputs { id }
      playback { url } failure { code } cancel { outcome } } } }`;
    const statements = async (first: number): Promise<number> => {
      const spy = jest.spyOn(Client.prototype, 'query');
      const { data, errors } = await api.ask(query, { first });
      expect(errors).toEqual([]);
      expect(data.generations.nodes).toHaveLength(first);
      // The key is read anew every two seconds, whatever is asked: it is not what is measured.
      const count = spy.mock.calls.filter((call) => !textOf(call[0]).includes('api_keys')).length;
      spy.mockRestore();
      return count;
    };
    await statements(1);
    const few = await statements(2);
    expect(few).toBeGreaterThanOrEqual(7);
    expect(few).toBeLessThanOrEqual(12);
    expect(await statements(25)).toBe(few);
  });
});

describe('the ledger', () => {
  it('is listed, filtered by generation, and adds up to the balance', async () => {
    const query = `query ($generationId: ID) { balance { available held }
      ledgerEntries(first: 100, generationId: $generationId) { nodes { id kind amount availableChange heldChange generationId } } }`;
    const { data } = await api.ask(query, {});
    const sum = (key: string): number =>
      data.ledgerEntries.nodes.reduce(
        (total: number, entry: Record<string, string>) => total + Number(entry[key]),
        0,
      );
    expect(data.balance).toEqual({
      available: String(sum('availableChange')),
      held: String(sum('heldChange')),
    });
    const canceled = await api.ask(query, { generationId: ids[3] });
    expect(canceled.data.ledgerEntries.nodes).toMatchObject([
      {
        kind: 'RELEASE',
        amount: '6',
        availableChange: '6',
        heldChange: '-6',
        generationId: ids[3],
      },
      {
        kind: 'RESERVE',
        amount: '6',
        availableChange: '-6',
        heldChange: '6',
        generationId: ids[3],
      },
    ]);
  });
});

describe('a generation', () => {
  it('tells all that is known of it', async () => {
    const query = `query ($id: ID!) { generation(id: $id) {
      status version progress model prompt parameters { seed aspectRatio resolution durationMs withAudio imageAssetId }
      price reserved settled money { held charged returned } attempts { id }
      events { type fromStatus toStatus version ignoredReason source } inputs { id } outputs { id }
      playback { url } failure { code } cancel { reason } waiting { reason position since } nextStep idempotencyKey
      startedAt finishedAt } }`;
    const { data, errors } = await api.ask(query, { id: ids[0] });
    expect(errors).toEqual([]);
    expect(data.generation).toMatchObject({
      status: 'QUEUED',
      version: 4,
      progress: 0,
      model: 'sandbox-video-1',
      prompt: 'number 24',
      parameters: {
        aspectRatio: '16:9',
        resolution: '480p',
        durationMs: 2000,
        withAudio: true,
        imageAssetId: null,
      },
      price: '6',
      reserved: '6',
      settled: null,
      money: { held: '6', charged: '0', returned: '0' },
      attempts: [],
      inputs: [],
      outputs: [],
      playback: null,
      failure: null,
      cancel: null,
      waiting: { reason: 'QUEUED' },
      startedAt: null,
      finishedAt: null,
    });
    expect(data.generation.events.map(({ type }: { type: string }) => type)).toEqual([
      'created',
      'validation_started',
      'validation_passed',
      'queued',
    ]);
    expect(data.generation.waiting.position).toBeGreaterThan(20);
  });

  it('is canceled once, and says what is still charged', async () => {
    const cancel = async (generationId: string) =>
      (
        await api.ask(
          `mutation ($input: GenerationCancelInput!) { generationCancel(input: $input) {
            generation { status cancel { reason outcome } money { held returned } }
            stopped repeated stillChargeable userErrors { code field } } }`,
          { input: { generationId } },
        )
      ).data.generationCancel;
    expect(await cancel(ids[5] as string)).toEqual({
      generation: {
        status: 'CANCELED',
        cancel: { reason: 'USER', outcome: 'BEFORE_SUBMIT' },
        money: { held: '0', returned: '6' },
      },
      stopped: true,
      repeated: false,
      stillChargeable: '0',
      userErrors: [],
    });
    expect(await cancel(ids[5] as string)).toMatchObject({
      stopped: true,
      userErrors: [{ code: 'ALREADY_FINISHED' }],
    });
    expect(await cancel('gen_01h455vb4pex5vsknk084sn02q')).toMatchObject({
      generation: null,
      userErrors: [{ code: 'GENERATION_NOT_FOUND', field: 'generationId' }],
    });
  });

  it('is priced by a quote that reserves nothing and then holds', async () => {
    const request = { model: 'sandbox-video-1', prompt: 'q', durationMs: 3000, resolution: '720p' };
    const before = (await api.ask('{ balance { available held } }')).data.balance;
    const quoted = await api.ask(
      `mutation ($input: GenerationQuoteCreateInput!) { generationQuoteCreate(input: $input) {
        quote { id price model } userErrors { code } } }`,
      { input: request },
    );
    const { quote } = quoted.data.generationQuoteCreate;
    expect(quote).toMatchObject({ price: '21', model: 'sandbox-video-1' });
    const priced = await api.ask(
      'query ($input: GenerationRequestInput!) { generationPrice(input: $input) { price userErrors { code } } }',
      { input: request },
    );
    expect(priced.data.generationPrice).toEqual({ price: '21', userErrors: [] });
    expect((await api.ask('{ balance { available held } }')).data.balance).toEqual(before);
    await api.database.pool.query(
      `UPDATE provider_models SET price_per_second = '{"480p": "3000000", "720p": "9000000"}'`,
    );
    const id = await api.create({ ...request, quoteId: quote.id });
    const { data } = await api.ask('query ($id: ID!) { generation(id: $id) { price quoteId } }', {
      id,
    });
    expect(data.generation).toEqual({ price: '21', quoteId: quote.id });
  });
});

const textOf = (query: unknown): string =>
  typeof query === 'string' ? query : String((query as { text?: string }).text ?? '');
