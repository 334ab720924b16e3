import {
  acceptedSchema,
  callbackSchema,
  errorSchema,
  jobSchema,
  listSchema,
  observeJob,
  parseJson,
} from '../../../src/adapters/provider/sandbox/wire';

const JOB = { id: 'vid_1', status: 'processing', created_at: '2026-01-01T00:00:00Z' };
const asJson = (value: unknown): unknown => parseJson(Buffer.from(JSON.stringify(value)));
const polled = (changes: object) => observeJob(jobSchema.parse(asJson({ ...JOB, ...changes })));
const isTaken = (changes: object): boolean =>
  callbackSchema.safeParse(asJson({ data: { ...JOB, ...changes } })).success;

const UNBOOKABLE: readonly (readonly [string, object])[] = [
  ['more than the column holds', { amount: '99999999999999999999.99', currency: 'USD' }],
  ['13 digits', { amount: '1000000000000', currency: 'USD' }],
  ['7 digits after the point', { amount: '0.0000001', currency: 'USD' }],
  ['a sign', { amount: '-1', currency: 'USD' }],
  ['an exponent', { amount: '1e9', currency: 'USD' }],
  ['a line after the amount', { amount: '1\n', currency: 'USD' }],
  ['a currency in words', { amount: '1', currency: 'dollars' }],
  ['no currency', { amount: '1' }],
];

describe('a charge on the wire', () => {
  it.each(UNBOOKABLE)('of %s: a callback is refused, an answer keeps its status', (_name, cost) => {
    expect(isTaken({ cost })).toBe(false);
    const said = { ...JOB, status: 'succeeded', cost };
    expect(polled(said)).toMatchObject({ rawStatus: 'succeeded', charge: null });
    const list = listSchema.parse(asJson({ data: [said], has_more: false, last_id: null }));
    expect(list.data[0]).toMatchObject({ status: 'succeeded', cost: null });
    const refused = errorSchema.parse(asJson({ error: { code: 'content_policy' }, cost }));
    expect(refused).toMatchObject({ error: { code: 'content_policy' }, cost: null });
  });

  it.each(['0', '0.0500', '999999999999.999999'])('of %s is taken', (amount) => {
    const cost = { amount, currency: 'USD' };
    expect(isTaken({ cost })).toBe(true);
    expect(polled({ cost }).charge).toEqual(cost);
  });
});

describe('text on the wire', () => {
  it('is well-formed and without U+0000, in every kind of answer', () => {
    const text = '{"id":"vid\\u0000_1","status":"succ\\ud800","created_at":""}';
    expect(jobSchema.parse(parseJson(Buffer.from(text)))).toMatchObject({
      id: 'vid_1',
      status: 'succ\ufffd',
    });
    expect(acceptedSchema.parse(asJson({ id: 'vid\0' })).id).toBe('vid');
    expect(acceptedSchema.safeParse(asJson({ id: '\0' })).success).toBe(false);
    expect(errorSchema.parse(asJson({ error: { code: 'no\ud800\0' } })).error.code).toBe(
      'no\ufffd',
    );
  });

  it('is cut where it is a word, and refused where it is an id', () => {
    const long = 'x'.repeat(100_000);
    const observation = polled({ status: 'failed', error: { code: long }, reference: long });
    expect(observation.failure?.code).toHaveLength(100);
    expect(observation.echoedRequestKey).toBeNull();
    expect(polled({ status: long })).toMatchObject({
      status: 'UNRECOGNIZED',
      rawStatus: long.slice(0, 100),
    });
    expect(isTaken({ id: long })).toBe(false);
    expect(acceptedSchema.safeParse({ id: long }).success).toBe(false);
  });

  it.each(['constructor', 'toString', '__proto__'])(
    'that is a word of the language is no status: %s',
    (status) => {
      expect(polled({ status }).status).toBe('UNRECOGNIZED');
    },
  );
});

describe('numbers and times on the wire', () => {
  it.each([
    [150, 100],
    [-5, 0],
    [42.5, 42.5],
    [1e300, 100],
    [null, null],
  ])('progress %p is %p', (progress, read) => {
    expect(polled({ progress }).progress).toBe(read);
  });

  it.each(['-271821-04-20T00:00:00Z', '+275760-09-13T00:00:00Z', 'yesterday', null])(
    'a time that the database cannot hold is none: %p',
    (time) => {
      expect(polled({ updated_at: time }).providerUpdatedAt).toBeNull();
    },
  );
});
