/** With the `u` flag a pair is one character, so only halves that stand alone match. */
const LONE_SURROGATE = /[\uD800-\uDFFF]/gu;

/** Text as the database can hold it: half characters become U+FFFD, and U+0000 goes. */
export function cleanText(text: string): string {
  return text.replaceAll('\0', '').replace(LONE_SURROGATE, '\uFFFD');
}

/** The same, of at most `charactersMax` UTF-16 units; a character that the end cuts in two becomes U+FFFD. */
export function cutText(text: string, charactersMax: number): string {
  return cleanText(text).slice(0, charactersMax).replace(LONE_SURROGATE, '\uFFFD');
}

/** The same for a parsed answer: every string and every key in it is clean, the shape stays. */
export function cleanValue(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (Array.isArray(value)) return value.map(cleanValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [cleanText(key), cleanValue(item)]),
  );
}
