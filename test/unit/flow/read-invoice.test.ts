import { readInvoice } from '../../../src/flow/bill/read-invoice';

const PERIOD = { start: new Date('2026-11-01T00:00:00Z'), end: new Date('2026-12-01T00:00:00Z') };
const REST = '"job_id":"vid_1","currency":"USD","at":"2026-11-05T00:00:00Z"';

const read = (line: string) =>
  readInvoice([Buffer.from(`${line}\n`)], 'JSON_LINES', PERIOD, () => undefined);

describe('a line of a JSON invoice', () => {
  it.each([
    ['an amount', `{"id":"a","amount":"0.10","amount":"9.99",${REST}}`],
    ['an id', `{"id":"a","id":"b","amount":"0.10",${REST}}`],
    ['a key that is spelled otherwise', `{"id":"a","amount":"0.10","\\u0061mount":"9.99",${REST}}`],
    ['a key of an object inside', `{"id":"a","amount":"0.10","more":{"x":1,"x":2},${REST}}`],
  ])('that names twice %s is refused', async (_what, line) => {
    expect(await read(line)).toEqual({
      kind: 'BAD_LINES',
      badLines: [{ lineNo: 1, code: 'KEY_TWICE' }],
      badLineCount: 1,
    });
  });

  it.each([
    ['values that look like keys', `{"id":"a","amount":"0.10","note":"\\"amount\\":",${REST}}`],
    ['a key of another object', `{"id":"a","amount":"0.10","more":[{"id":1},{"id":2}],${REST}}`],
  ])('with %s is read', async (_what, line) => {
    expect(await read(line)).toMatchObject({ kind: 'READ', lines: [{ key: 'a', amount: '0.10' }] });
  });
});
