const BEARER = /^Bearer +([^\s]+) *$/i;
/** What the playground sends before a key was put in. */
const NO_TOKEN = /^(Bearer)? *$/i;

/** The token of an Authorization header; null without one, `''` for anything that is no bearer token. */
export const readBearer = (header: string | undefined): string | null =>
  header === undefined || NO_TOKEN.test(header) ? null : (BEARER.exec(header)?.[1] ?? '');

/** The value of an Idempotency-Key header; the draft standard puts it in quotes, many clients do not. */
export const readIdempotencyKey = (
  header: string | readonly string[] | undefined,
): string | null => {
  const text = typeof header === 'string' ? header : header?.join(', ');
  if (text === undefined) return null;
  return /^"(.*)"$/.exec(text)?.[1] ?? text;
};
