import { createHmac } from 'node:crypto';
import type { CallbackVerdict } from '../../../src/ports/provider-gateway';
import { eventually } from '../../support/eventually';
import type { GatewayHarness } from './gateway-harness';

const OLD_SECRET = `whsec_${Buffer.alloc(24, 'old').toString('base64')}`;

/** Case by case over the raw bytes; the form of the headers is Standard Webhooks. */
export function describeCallbacks(harness: () => GatewayHarness): void {
  let genuine: { readonly headers: Readonly<Record<string, string>>; readonly rawBody: Buffer };

  function verify(
    headers: Readonly<Record<string, string>>,
    rawBody: Buffer,
    secrets = harness().account.webhookSecrets,
    now = new Date(),
  ): CallbackVerdict {
    const { gateway, account } = harness();
    const verifier = { ...account, webhookSecrets: secrets };
    return gateway.verifyCallback(verifier, { headers, rawBody, now });
  }

  function signed(body: string | Buffer, secret?: string): [Record<string, string>, Buffer] {
    const rawBody = Buffer.from(body);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const key = secret ?? harness().account.webhookSecrets[0] ?? '';
    const signature = createHmac('sha256', Buffer.from(key.replace(/^whsec_/, ''), 'base64'))
      .update(`msg_1.${timestamp}.`)
      .update(rawBody)
      .digest('base64');
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    };
    return [headers, rawBody];
  }

  describe('callbacks', () => {
    beforeAll(async () => {
      const { gateway, account, request, callbacksOf } = harness();
      const sent = request('WELL');
      await gateway.submit(account, sent);
      genuine = await eventually('the callback of the end', () =>
        callbacksOf(sent).find((callback) => callback.rawBody.includes('video.succeeded')),
      );
    });

    it('accepts a genuine one, with the id of the event to dedup by', () => {
      expect(verify(genuine.headers, genuine.rawBody)).toMatchObject({
        ok: true,
        sourceEventId: genuine.headers['webhook-id'],
        observation: { status: 'SUCCEEDED', outputs: [{ index: 0 }] },
      });
    });

    it('reads header names in any spelling', () => {
      const headers = Object.fromEntries(
        Object.entries(genuine.headers).map(([name, value]) => [name.toUpperCase(), value]),
      );
      expect(verify(headers, genuine.rawBody)).toMatchObject({ ok: true });
    });

    it.each([
      ['escaped slashes', (text: string) => text.replaceAll('/', '\\/')],
      ['unicode escapes', (text: string) => text.replaceAll('video', '\\u0076ideo')],
      ['a trailing newline', (text: string) => `${text}\n`],
      ['a byte order mark', (text: string) => `\uFEFF${text}`],
      ['another key order', reverseKeys],
    ])('verifies over the raw bytes: %s', (_name, write) => {
      const body = write(genuine.rawBody.toString('utf8'));
      const [headers, rawBody] = signed(body);
      expect(verify(headers, rawBody)).toMatchObject({
        ok: true,
        observation: { status: 'SUCCEEDED' },
      });
    });

    it('refuses a body that was parsed and written again', () => {
      const pretty = JSON.stringify(JSON.parse(genuine.rawBody.toString('utf8')), null, 1);
      expect(verify(genuine.headers, Buffer.from(pretty))).toEqual(BAD_SIGNATURE);
      const [headers, rawBody] = signed(`${genuine.rawBody.toString('utf8')}\n`);
      const trimmed = Buffer.from(rawBody.toString('utf8').trim());
      expect(verify(headers, trimmed)).toEqual(BAD_SIGNATURE);
    });

    it('refuses a timestamp 301 s off either way and takes one 300 s off', () => {
      const sentAt = Number(genuine.headers['webhook-timestamp']) * 1000;
      const at = (seconds: number): CallbackVerdict =>
        verify(genuine.headers, genuine.rawBody, undefined, new Date(sentAt + seconds * 1000));
      expect(at(301)).toEqual({ ok: false, reason: 'STALE_TIMESTAMP' });
      expect(at(-301)).toEqual({ ok: false, reason: 'STALE_TIMESTAMP' });
      expect(at(300)).toMatchObject({ ok: true });
      expect(at(-300)).toMatchObject({ ok: true });
    });

    it('takes the old and the new key while both are listed, and a retired key no more', () => {
      const [secret = ''] = harness().account.webhookSecrets;
      const body = genuine.rawBody;
      const [headers] = signed(body, OLD_SECRET);
      expect(verify(headers, body, [secret, OLD_SECRET])).toMatchObject({ ok: true });
      expect(verify(genuine.headers, body, [OLD_SECRET, secret])).toMatchObject({ ok: true });
      expect(verify(headers, body, [secret])).toEqual(BAD_SIGNATURE);
      expect(verify(headers, body, [])).toEqual(BAD_SIGNATURE);
    });

    it('takes one good signature among those of several keys', () => {
      const [headers, rawBody] = signed(genuine.rawBody);
      const [other] = signed(genuine.rawBody, OLD_SECRET);
      const list = `v1a,xyz ${other['webhook-signature']} ${headers['webhook-signature']}`;
      expect(verify({ ...headers, 'webhook-signature': list }, rawBody)).toMatchObject({
        ok: true,
      });
    });

    it.each([
      ['empty', ''],
      ['a version alone', 'v1,'],
      ['another version', 'v2,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='],
      ['a signature too short', 'v1,AAAA'],
      ['no version', 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='],
    ])('refuses a signature header that is %s', (_name, signature) => {
      const headers = { ...genuine.headers, 'webhook-signature': signature };
      expect(verify(headers, genuine.rawBody)).toEqual(BAD_SIGNATURE);
    });

    it('refuses a list of 300 signatures, even with the good one in it', () => {
      const [headers, rawBody] = signed(genuine.rawBody);
      const good = headers['webhook-signature'] ?? '';
      const wrong = 'v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=';
      const list = [...Array.from({ length: 299 }, () => wrong), good].join(' ');
      expect(verify({ ...headers, 'webhook-signature': list }, rawBody)).toEqual(BAD_SIGNATURE);
    });

    it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])(
      'refuses a callback without %s, or with another',
      (name) => {
        const { [name]: _left, ...without } = genuine.headers;
        expect(verify(without, genuine.rawBody)).toEqual(BAD_SIGNATURE);
        const changed = { ...genuine.headers, [name]: `${genuine.headers[name]}0` };
        expect(verify(changed, genuine.rawBody)).toMatchObject({ ok: false });
      },
    );

    it('says MALFORMED for a signed body that is no event', () => {
      expect(verify(...signed('not json'))).toEqual({ ok: false, reason: 'MALFORMED' });
      expect(verify(...signed('{"data":{}}'))).toEqual({ ok: false, reason: 'MALFORMED' });
    });

    it('says MALFORMED for a charge that no book can hold', () => {
      expect(genuine.rawBody.toString('utf8')).toContain('"amount":"0.0500"');
      const body = (amount: string): string =>
        genuine.rawBody.toString('utf8').replace('"amount":"0.0500"', `"amount":"${amount}"`);
      expect(verify(...signed(body('1.5')))).toMatchObject({ ok: true });
      expect(verify(...signed(body('99999999999999999999.99')))).toEqual({
        ok: false,
        reason: 'MALFORMED',
      });
    });

    it('reads text as the database can hold it', () => {
      const body = genuine.rawBody.toString('utf8').replace('"succeeded"', '"succ\\ud800\\u0000"');
      expect(verify(...signed(body))).toMatchObject({
        ok: true,
        observation: { status: 'UNRECOGNIZED', rawStatus: 'succ\ufffd' },
      });
    });
  });
}

const BAD_SIGNATURE = { ok: false, reason: 'BAD_SIGNATURE' } as const;

function reverseKeys(text: string): string {
  const event = JSON.parse(text) as { data: object };
  const data = Object.fromEntries(Object.entries(event.data).reverse());
  return JSON.stringify(Object.fromEntries(Object.entries({ ...event, data }).reverse()));
}
