import { cleanText, cleanValue, cutText } from '../../../src/adapters/provider/http/clean-text';
import { digestText } from '../../../src/adapters/provider/http/redaction';

describe('clean text', () => {
  it.each([
    ['a high half alone', 'succ\ud800', 'succ\ufffd'],
    ['a low half alone', '\udc00ess', '\ufffdess'],
    ['halves in the wrong order', '\udc00\ud800', '\ufffd\ufffd'],
    ['a whole pair', 'ok 😀', 'ok 😀'],
    ['U+0000', 'succ\0eeded', 'succeeded'],
    ['halves with U+0000 between them', '\ud83d\0\ude00', '😀'],
  ])('of %s', (_name, text, clean) => {
    expect(cleanText(text)).toBe(clean);
  });

  it('reaches every string and key of a parsed answer', () => {
    expect(cleanValue({ 'a\0': ['\ud800', 1, null, { b: '\0' }], c: true })).toEqual({
      a: ['\ufffd', 1, null, { b: '' }],
      c: true,
    });
  });

  it('is whole where a length cuts it, in a digest too', () => {
    expect(cutText('ab😀', 3)).toBe('ab\ufffd');
    expect(digestText(`${'x'.repeat(1_999)}😀`, [])).toBe(`${'x'.repeat(1_999)}\ufffd`);
    expect(digestText('a\0b', [])).toBe('ab');
  });
});
