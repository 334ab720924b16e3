import { cutText } from './clean-text';

const DIGEST_CHARACTERS_MAX = 2_000;
const MASK = '[redacted]';

/**
 * What may be kept of an answer: the head and the body without `secrets`, without the query of any URL
 * (that is where signatures are) and without anything that looks like a key; at most 2,000 characters.
 */
export function digestText(text: string, secrets: readonly string[]): string {
  // Masks come first: a secret that the end of the digest cuts in two would no longer be recognised.
  return cutText(redactText(text, secrets), DIGEST_CHARACTERS_MAX);
}

export function redactText(text: string, secrets: readonly string[]): string {
  let redacted = text;
  for (const secret of secrets) {
    if (secret === '') continue;
    for (const form of new Set([
      secret,
      JSON.stringify(secret).slice(1, -1),
      escapeSlashes(secret),
    ])) {
      redacted = redacted.replaceAll(form, MASK);
    }
  }
  return redacted
    .replace(/(https?:(?:\\?\/){2}[^\s"'<>?#]+)[?#][^\s"'<>]*/gi, `$1?${MASK}`)
    .replace(/\bwhsec_[A-Za-z0-9+/=_-]+/g, MASK)
    .replace(/\b(bearer|key)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${MASK}`);
}

/** The same for a parsed answer: every string in it is redacted, the shape stays. */
export function redactValue(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return redactText(value, secrets);
  if (Array.isArray(value)) return value.map((item) => redactValue(item, secrets));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, redactValue(item, secrets)]),
  );
}

function escapeSlashes(text: string): string {
  return text.replaceAll('/', '\\/');
}
