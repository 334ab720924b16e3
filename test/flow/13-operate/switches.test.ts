import { switchProvider } from '../../../src/flow/operate/pause-provider';
import { switchTenant } from '../../../src/flow/operate/pause-tenant';
import { useFlow, type Flow } from '../../support/flow-harness';
import { onlyProxy } from '../../support/flow/expectations';
import { auditOf, expectRefused, NOBODY, ORDER } from '../../support/flow/operator';

const open = useFlow();

const turnProvider = (flow: Flow, to: 'PAUSED' | 'ACTIVE', id = 'sandbox') =>
  switchProvider(flow.context, flow.schedule.requestPass, id, { ...ORDER, to });
const turnTenant = (flow: Flow, to: 'PAUSED' | 'ACTIVE', id = flow.tenantId) =>
  switchTenant(flow.context, flow.schedule.requestPass, id, { ...ORDER, to });

describe('a paused provider', () => {
  it('gets no submits, finishes and stops what it has, and goes on when it is resumed', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const running = await flow.submit();
    const doomed = await flow.submit({ fault: 'hang' });
    const waiting = await flow.create();
    expect(await turnProvider(flow, 'PAUSED')).toMatchObject({ result: { status: 'PAUSED' } });
    await flow.finishJob(running.id);
    await flow.cancel(doomed.id);
    await flow.drain();
    await flow.jobReached(doomed.id, 'canceled');
    expect((await flow.task(running.id)).status).toBe('SUCCEEDED');
    expect(await flow.task(waiting.id)).toMatchObject({
      status: 'QUEUED',
      waitReason: 'PROVIDER_PAUSED',
    });
    await flow.runPass();
    expect(await flow.attempts(waiting.id)).toEqual([]);
    await expectRefused(flow, 'ALREADY_PAUSED', () => turnProvider(flow, 'PAUSED'));
    flow.takePassRequest();
    await turnProvider(flow, 'ACTIVE');
    expect(flow.takePassRequest()).toBe(true);
    await flow.runPass();
    await flow.drain(['reducer']);
    expect((await flow.task(waiting.id)).status).toBe('SUBMITTED');
    await expectRefused(flow, 'NOT_PAUSED', () => turnProvider(flow, 'ACTIVE'));
    expect((await auditOf(flow)).map(({ action, refused }) => [action, refused])).toEqual([
      ['provider.pause', null],
      ['provider.pause', 'ALREADY_PAUSED'],
      ['provider.resume', null],
      ['provider.resume', 'NOT_PAUSED'],
    ]);
  });

  it('is paused by one of two operators', async () => {
    const flow = await open();
    const outcomes = await Promise.all([
      turnProvider(flow, 'PAUSED'),
      turnProvider(flow, 'PAUSED'),
    ]);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['DONE', 'REFUSED']);
    await expectRefused(flow, 'NOT_FOUND', () => turnProvider(flow, 'PAUSED', 'nobody'));
  });
});

describe('a paused tenant', () => {
  it('creates nothing, finishes what runs, and waits with what waits', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const running = await flow.submit();
    const waiting = await flow.create();
    await turnTenant(flow, 'PAUSED');
    expect(await flow.tryCreate()).toMatchObject({ code: 'TENANT_PAUSED' });
    await flow.finishJob(running.id);
    await flow.drain();
    expect((await flow.task(running.id)).status).toBe('SUCCEEDED');
    expect(await flow.task(waiting.id)).toMatchObject({
      status: 'QUEUED',
      waitReason: 'TENANT_PAUSED',
    });
    const other = await flow.addTenant();
    expect(await flow.tryCreate({ tenantId: other })).toMatchObject({ kind: 'CREATED' });
    await expectRefused(flow, 'ALREADY_PAUSED', () => turnTenant(flow, 'PAUSED'));
    await turnTenant(flow, 'ACTIVE');
    await flow.runPass();
    await flow.drain(['reducer']);
    expect((await flow.task(waiting.id)).status).toBe('SUBMITTED');
    await expectRefused(flow, 'NOT_PAUSED', () => turnTenant(flow, 'ACTIVE'));
    await expectRefused(flow, 'NOT_FOUND', () => turnTenant(flow, 'PAUSED', NOBODY));
    await expectRefused(flow, 'REASON_REQUIRED', () =>
      switchTenant(flow.context, () => undefined, flow.tenantId, {
        ...ORDER,
        reason: '',
        to: 'PAUSED',
      }),
    );
  });
});
