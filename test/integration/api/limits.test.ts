import { useApi } from './support/running-api';

const running = useApi();

const repeat = (count: number, write: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => write(index)).join(' ');

const nest = (levels: number): string =>
  `{ generations { ${repeat(levels, () => 'a {')} b ${'}'.repeat(levels)} } }`;

describe('a document that asks for too much is refused before it is executed:', () => {
  it.each<[string, string]>([
    [
      '1,000 aliases of one mutation',
      `mutation { ${repeat(1000, (i) => `a${i}: generationCancel(input: {generationId: "x"}) { stopped }`)} }`,
    ],
    [
      '200 aliases of one mutation',
      `mutation { ${repeat(200, (i) => `a${i}: generationCancel(input: {generationId: "x"}) { stopped }`)} }`,
    ],
    ['31 aliases inside one field', `{ viewer { ${repeat(31, (i) => `a${i}: scopes`)} } }`],
    [
      'aliases hidden in fragments',
      `{ viewer { ...A } } fragment A on Viewer { ...B ${repeat(16, (i) => `a${i}: scopes`)} } fragment B on Viewer { ${repeat(16, (i) => `b${i}: scopes`)} }`,
    ],
    ['30 levels of depth', nest(30)],
    ['31 directives', `{ viewer { scopes ${repeat(31, () => '@include(if: true)')} } }`],
    ['21 root fields', `{ ${repeat(21, () => '__typename')} }`],
    [
      'lists in full within a list in full',
      `{ ${repeat(10, (i) => `p${i}: generations(first: 100) { nodes { ${repeat(10, () => 'id status events { type source version observedAt } attempts { id }')} } }`)} }`,
    ],
    ['too many tokens', `{ viewer { ${repeat(5000, () => 'scopes')} } }`],
  ])('%s', async (_, query) => {
    const started = process.hrtime.bigint();
    const answer = await running().ask(query);
    expect(answer.status).toBe(400);
    expect(answer.data).toBeNull();
    expect(answer.errors.map(({ extensions }) => extensions['code'])).toContain(
      'QUERY_TOO_COMPLEX',
    );
    expect(Number(process.hrtime.bigint() - started) / 1e6).toBeLessThan(2_000);
  });

  it('fragments in a circle', async () => {
    const answer = await running().ask(
      '{ viewer { ...A } } fragment A on Viewer { ...B } fragment B on Viewer { ...A }',
    );
    expect(answer.status).toBe(400);
    expect(answer.errors[0]?.extensions['code']).toBe('GRAPHQL_VALIDATION_FAILED');
  });

  it('fragments that double 40 times', async () => {
    const fragments = repeat(
      40,
      (i) => `fragment F${i} on Viewer { ...F${i + 1} a${i}: scopes ...F${i + 1} }`,
    );
    const answer = await running().ask(
      `{ viewer { ...F0 } } ${fragments} fragment F40 on Viewer { scopes }`,
    );
    expect(answer.status).toBe(400);
    expect(answer.errors.map(({ extensions }) => extensions['code'])).toContain(
      'QUERY_TOO_COMPLEX',
    );
  });

  it('a batch', async () => {
    const api = running();
    const batch = JSON.stringify(
      Array.from({ length: 1000 }, () => ({ query: '{ viewer { scopes } }' })),
    );
    const answer = await api.post(batch, { authorization: `Bearer ${api.token}` });
    expect(answer.status).toBe(400);
    expect(answer.errors).toMatchObject([{ extensions: { code: 'BAD_REQUEST' } }]);
  });

  it('a body beyond 256 kB', async () => {
    const answer = await running().post(JSON.stringify({ query: 'x'.repeat(300_000) }));
    expect(answer.status).toBe(413);
    expect(answer.errors).toMatchObject([
      { message: expect.stringContaining('262144'), extensions: { code: 'PAYLOAD_TOO_LARGE' } },
    ]);
  });
});

describe('a document that asks for what people need is executed:', () => {
  it('introspection, without a key', async () => {
    const { getIntrospectionQuery } = await import('graphql');
    const answer = await running().ask(getIntrospectionQuery(), {}, { token: null });
    expect(answer.status).toBe(200);
    expect(answer.data.__schema.queryType.name).toBe('Query');
  });

  it('a page of 100 with attempts, events and money', async () => {
    const answer = await running().ask(
      `{ generations(first: 100) { nodes { id status price money { held } attempts { id status cost { amount } }
        events { type version observedAt } outputs { id kind status } } pageInfo { endCursor } } }`,
    );
    expect(answer.status).toBe(200);
    expect(answer.errors).toEqual([]);
  });
});

describe('a request of a browser', () => {
  it('from a foreign form is refused', async () => {
    const answer = await running().post('{"query":"{ viewer { scopes } }"}', {
      'content-type': 'text/plain',
    });
    expect(answer.status).toBe(400);
    expect(answer.errors).toMatchObject([{ extensions: { code: 'BAD_REQUEST' } }]);
  });
});

describe('an internal fault', () => {
  it('is told by number only, and is in the log under it', async () => {
    const api = running();
    jest.spyOn(api.reads, 'pageAssets').mockRejectedValue(new Error('secret detail'));
    const answer = await api.ask('{ assets { nodes { id } } }');
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain('secret');
    expect(answer.errors).toMatchObject([{ extensions: { code: 'INTERNAL', retryable: false } }]);
    const requestId = answer.headers.get('x-request-id');
    expect(answer.errors[0]?.extensions['requestId']).toBe(requestId);
    expect(api.log.lines).toContainEqual(
      expect.objectContaining({ level: 'error', fields: expect.objectContaining({ requestId }) }),
    );
  });
});
