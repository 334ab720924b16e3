import { createHmac, timingSafeEqual } from 'node:crypto';

export type WebhookVerdict =
  | { readonly ok: true; readonly webhookId: string }
  | { readonly ok: false; readonly reason: 'BAD_SIGNATURE' | 'STALE_TIMESTAMP' };

const TOLERANCE_SECONDS = 300;
/** A sender signs with the old and the new key while it rotates; more than a handful is an attack. */
const SIGNATURES_MAX = 8;
const HEADER_CHARACTERS_MAX = 1_024;

/**
 * Checks a callback by Standard Webhooks (HMAC-SHA256, `v1`): over the raw bytes of the body, in constant
 * time, with any of `secrets` (rotation), and no further than 300 s from `now` in either direction.
 */
export function verifyStandardWebhook(
  headers: Readonly<Record<string, string>>,
  rawBody: Buffer,
  secrets: readonly string[],
  now: Date,
): WebhookVerdict {
  const webhookId = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  if (webhookId === null || timestamp === null || signatures === null) {
    return { ok: false, reason: 'BAD_SIGNATURE' };
  }
  if (!/^\d{1,12}$/.test(timestamp)) return { ok: false, reason: 'BAD_SIGNATURE' };
  const driftSeconds = Math.abs(Math.floor(now.getTime() / 1000) - Number(timestamp));
  if (driftSeconds > TOLERANCE_SECONDS) return { ok: false, reason: 'STALE_TIMESTAMP' };
  const given = readSignatures(signatures);
  const expected = secrets.flatMap((secret) => {
    const key = keyOf(secret);
    return key === null ? [] : [sign(key, webhookId, timestamp, rawBody)];
  });
  // Every pair is compared, so the time taken does not tell which key matched.
  const matches = given.flatMap((one) => expected.map((other) => timingSafeEqual(one, other)));
  return matches.includes(true) ? { ok: true, webhookId } : { ok: false, reason: 'BAD_SIGNATURE' };
}

function sign(key: Buffer, webhookId: string, timestamp: string, rawBody: Buffer): Buffer {
  return createHmac('sha256', key).update(`${webhookId}.${timestamp}.`).update(rawBody).digest();
}

/** The `v1` entries that can be a signature at all; other versions are skipped, too many refuse all. */
function readSignatures(header: string): Buffer[] {
  const entries = header.split(' ');
  if (entries.length > SIGNATURES_MAX) return [];
  return entries.flatMap((entry) => {
    const text = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(entry)?.[1];
    return text === undefined ? [] : [Buffer.from(text, 'base64')];
  });
}

function keyOf(secret: string): Buffer | null {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return key.length === 0 ? null : key;
}

function headerOf(headers: Readonly<Record<string, string>>, name: string): string | null {
  const value =
    headers[name] ?? Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return value === undefined || value === '' || value.length > HEADER_CHARACTERS_MAX ? null : value;
}
