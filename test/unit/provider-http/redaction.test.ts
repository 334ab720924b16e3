import { digestText, redactValue } from '../../../src/adapters/provider/http/redaction';

describe('what is kept of a provider answer', () => {
  it.each([
    ['a known secret', 'key is sk-abc', 'key is [redacted]'],
    ['a signed URL', 'see https://h/v.mp4?sig=1&x=2 now', 'see https://h/v.mp4?[redacted] now'],
    ['a URL with escaped slashes', '"https:\\/\\/h\\/v?sig=1"', '"https:\\/\\/h\\/v?[redacted]"'],
    ['a webhook secret', 'whsec_AAAA+/=', '[redacted]'],
    ['a bearer token', 'Authorization: Bearer abcdefghij', 'Authorization: Bearer [redacted]'],
    ['a secret as JSON writes it', '"a\\"b"', '"[redacted]"'],
    ['a plain URL', 'https://h/v.mp4', 'https://h/v.mp4'],
  ])('%s', (_name, text, kept) => {
    expect(digestText(text, ['sk-abc', 'a"b'])).toBe(kept);
  });

  it('masks before it cuts, so that no half of a secret is left at the end', () => {
    const digest = digestText(`${'x'.repeat(1995)}sk-abc`, ['sk-abc']);
    expect(digest).toHaveLength(2000);
    expect(digest).not.toContain('sk-');
  });

  it('leaves the shape of a parsed answer as it is', () => {
    const value = { outputs: [{ url: 'https://h/v?sig=1', index: 0 }], error: null };
    expect(redactValue(value, [])).toEqual({
      outputs: [{ url: 'https://h/v?[redacted]', index: 0 }],
      error: null,
    });
  });
});
