import { createHmac } from 'node:crypto';

import { startCallbackServer } from '../../../src/runtime/callback-server';
import { DatabaseUnavailableError } from '../../../src/ports/unit-of-work';
import { useFlow, type Flow } from '../../support/flow-harness';

const open = useFlow();

const MEGABYTE = 1024 * 1024;

/** The gateway as the callback worker runs it, and what it answers to a body. */
const serve = async (flow: Flow, context = flow.context) => {
  const server = await startCallbackServer({
    context,
    config: { callback: { host: '127.0.0.1', port: 0 } },
    gatewayOrNull: (id) => (id === 'sandbox' ? flow.provider.gatewayOf(id) : null),
    accountsOf: () => Promise.resolve([flow.account]),
    log: flow.log,
    health: { isDraining: () => false },
  });
  return {
    stop: () => server.stop(),
    send: async (path: string, body: string, secret = flow.account.webhookSecrets[0] ?? '') => {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
        method: 'POST',
        body,
        headers: sign(flow, body, secret),
      });
      return response.status;
    },
  };
};

const sign = (flow: Flow, body: string, secret: string): Record<string, string> => {
  const timestamp = String(Math.floor(flow.clock.now().getTime() / 1000));
  const signature = createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .update(`msg_1.${timestamp}.${body}`)
    .digest('base64');
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
};

const refusals = (flow: Flow) =>
  flow.look('SELECT reason, refusals FROM callback_refusals ORDER BY first_at, reason');

describe('the callback gateway', () => {
  it('takes a body of 8 MB; a larger one is 413, stands on the timeline, and polling covers it (case 29)', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'callback_never' });
    const { requestKey, jobId } = await flow.attempt(id);
    const timestamp = flow.clock.now().toISOString();
    const event = { type: 'video.processing', timestamp };
    const data = { id: jobId, status: 'processing', created_at: timestamp, updated_at: timestamp };
    const body = (padding: number): string =>
      JSON.stringify({ ...event, data: { ...data, padding: 'x'.repeat(padding) } });
    const gateway = await serve(flow);
    try {
      expect(await gateway.send(`/callbacks/sandbox/${requestKey}`, body(8 * MEGABYTE))).toBe(200);
      expect(
        await gateway
          .send(`/callbacks/sandbox/${requestKey}`, body(9 * MEGABYTE))
          // The connection may be closed under the rest of the body.
          .catch(() => 413),
      ).toBe(413);
    } finally {
      await gateway.stop();
    }
    expect(await refusals(flow)).toEqual([{ reason: 'TOO_LARGE', refusals: 1 }]);
    await flow.jobReached(id);
    await flow.finishJob(id);
    expect((await flow.task(id)).status).toBe('OUTPUT_FETCHING');
  });

  it('answers by what is wrong, and counts it only for an attempt that exists', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'hang' });
    const { requestKey } = await flow.attempt(id);
    const stranger = `whsec_${Buffer.alloc(24, 'stranger').toString('base64')}`;
    const gateway = await serve(flow);
    try {
      expect(await gateway.send(`/callbacks/sandbox/${requestKey}`, 'not json')).toBe(400);
      expect(await gateway.send(`/callbacks/sandbox/${requestKey}`, '{}', stranger)).toBe(401);
      expect(await gateway.send('/callbacks/sandbox/nobody', '{}', stranger)).toBe(401);
      expect(await gateway.send(`/callbacks/other/${requestKey}`, '{}')).toBe(404);
      expect(await gateway.send('/callbacks/sandbox', '{}')).toBe(404);
    } finally {
      await gateway.stop();
    }
    expect(await refusals(flow)).toEqual([
      { reason: 'BAD_SIGNATURE', refusals: 1 },
      { reason: 'MALFORMED', refusals: 1 },
    ]);
  });

  it('answers 503 while nothing can be stored, so that the provider sends it again', async () => {
    const flow = await open();
    const away = {
      ...flow.context,
      uow: {
        stores: {
          ...flow.context.uow.stores,
          providerEvents: {
            ...flow.context.uow.stores.providerEvents,
            recordRefusal: () => Promise.reject(new DatabaseUnavailableError('away')),
          },
        },
        transact: flow.context.uow.transact,
      },
    };
    const gateway = await serve(flow, away);
    try {
      expect(await gateway.send('/callbacks/sandbox/nobody', 'not json')).toBe(503);
    } finally {
      await gateway.stop();
    }
  });
});
