import { accountLimitAt } from '../../../src/domain/scheduling/routing';
import { createReconcileConsumer } from '../../../src/flow/reconcile/resolve-unknown';
import { explainWait } from '../../../src/flow/explain/explain-wait';
import type { ProviderGateway } from '../../../src/ports/provider-gateway';
import { useFlow, type Flow } from '../../support/flow-harness';
import { ACCOUNT } from '../../support/flow/seed-catalog';

const open = useFlow();

/** As many failures in a row as open the circuit; what failed is cancelled, so that only the test's own tasks wait. */
const breakCircuit = async (flow: Flow): Promise<void> => {
  const count = flow.context.settings.circuitFailuresMax;
  await flow.sandbox.queueFaults(Array.from({ length: count }, () => 'reject_503'));
  const failed = await Promise.all(Array.from({ length: count }, () => flow.create()));
  await flow.drain(['reducer']);
  for (const { id } of failed) await flow.cancel(id);
};

const limitNow = async (flow: Flow): Promise<number> => {
  const account = await flow.context.uow.stores.catalog.readAccount(ACCOUNT);
  if (account === null) throw new Error('the account is gone');
  return accountLimitAt(account, flow.clock.now());
};

describe('an open circuit', () => {
  it('holds back submits only: queries and cancels go on', async () => {
    const flow = await open();
    const asked = await flow.submit({ fault: 'hang' });
    const stopped = await flow.submit({ fault: 'hang' });
    await breakCircuit(flow);
    const held = await flow.create();
    await flow.drain(['reducer']);
    expect(await flow.attempts(held.id)).toEqual([]);
    expect(await explainWait(flow.context, flow.slots, await flow.task(held.id))).toMatchObject({
      reason: 'CIRCUIT_OPEN',
    });
    await flow.cancel(stopped.id);
    await flow.drain(['reducer']);
    expect((await flow.jobReached(stopped.id)).status).toBe('canceled');
    const before = (await flow.attempt(asked.id)).pollTries;
    await flow.look('UPDATE provider_accounts SET circuit_open_until = $1', [
      new Date(flow.clock.now().getTime() + 3_600_000),
    ]);
    await flow.poll();
    expect((await flow.attempt(asked.id)).pollTries).toBe(before + 1);
    expect((await flow.attempt(asked.id)).pollErrors).toBe(0);
  });

  it('opens by failures that are recorded at once: none is lost', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'hang' });
    const attempt = await flow.attempt(id);
    const { circuitFailuresMax, circuitOpenMs } = flow.context.settings;
    const note = (failed: boolean): Promise<void> =>
      flow.context.uow.transact((tx) =>
        tx.catalog.noteCircuit(
          attempt.accountId,
          failed,
          circuitFailuresMax,
          new Date(flow.clock.now().getTime() + circuitOpenMs),
          flow.clock.now(),
        ),
      );
    const circuit = async (): Promise<unknown[]> =>
      flow.look(
        'SELECT circuit_failures AS failures, circuit_open_until IS NOT NULL AS open FROM provider_accounts',
      );
    await Promise.all(Array.from({ length: circuitFailuresMax - 1 }, () => note(true)));
    expect(await circuit()).toEqual([{ failures: circuitFailuresMax - 1, open: false }]);
    await note(false);
    expect(await circuit()).toEqual([{ failures: 0, open: false }]);
    await Promise.all(Array.from({ length: circuitFailuresMax }, () => note(true)));
    expect(await circuit()).toEqual([{ failures: circuitFailuresMax, open: true }]);
    await note(false);
    expect(await circuit()).toEqual([{ failures: 0, open: false }]);
  });

  it('is tried with one submit when its time is over; the others follow when that one is taken', async () => {
    const flow = await open();
    await breakCircuit(flow);
    const waiting = [];
    for (let i = 0; i < 4; i += 1) waiting.push(await flow.create({ fault: 'hang' }));
    await flow.relay();
    await flow.lose('scheduler');
    flow.clock.advance(flow.context.settings.circuitOpenMs + 1);
    expect(await flow.runPass()).toEqual({ dispatched: 1, waiting: 3 });
    // However many schedulers look, while the answer is out.
    flow.clock.advance(flow.context.settings.admissionRetryMs);
    const passes = await Promise.all([flow.runPass(), flow.runPass()]);
    expect(passes.map(({ dispatched }) => dispatched)).toEqual([0, 0]);
    await flow.relay();
    await flow.deliver('provider');
    flow.clock.advance(flow.context.settings.submitLeaseMs);
    expect(await flow.runPass()).toMatchObject({ dispatched: 3 });
    for (const { id } of waiting) expect(await flow.attempts(id)).toHaveLength(1);
  });

  it('opens again when the one that tries fails, and is tried again when its answer never comes', async () => {
    const flow = await open();
    await breakCircuit(flow);
    const { id } = await flow.create();
    await flow.relay();
    await flow.lose('scheduler');
    await flow.sandbox.queueFaults(['reject_503']);
    flow.clock.advance(flow.context.settings.circuitOpenMs + 1);
    expect(await flow.runPass()).toMatchObject({ dispatched: 1 });
    await flow.relay();
    await flow.deliver('provider');
    expect((await flow.task(id)).status).toBe('RETRY_WAIT');
    await flow.cancel(id);
    const second = await flow.create({ fault: 'hang' });
    const [account] = await flow.look('SELECT circuit_open_until FROM provider_accounts');
    expect((account?.['circuit_open_until'] as Date).getTime()).toBeGreaterThan(
      flow.clock.now().getTime(),
    );
    expect(await flow.runPass()).toMatchObject({ dispatched: 0 });
    flow.clock.advance(flow.context.settings.circuitOpenMs + 1);
    expect(await flow.runPass()).toMatchObject({ dispatched: 1 });
    // It is sent and never heard of: the next one tries when its time is over.
    const third = await flow.create({ fault: 'hang' });
    expect(await flow.runPass()).toMatchObject({ dispatched: 0 });
    flow.clock.advance(flow.context.settings.submitLeaseMs + 1);
    expect(await flow.runPass()).toMatchObject({ dispatched: 1 });
    expect(await flow.attempts(second.id)).toHaveLength(1);
    expect(await flow.attempts(third.id)).toHaveLength(1);
  });

  it('never moves an unknown submit to another account, nor swaps the model that was named', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: ['answer_lost', 'hang'] });
    await flow.look(
      `INSERT INTO provider_accounts (id, provider_id, base_url, secret_ref, status, concurrent_max, created_at, updated_at)
       SELECT 'sandbox-second', provider_id, base_url, secret_ref, status, 100, created_at, updated_at FROM provider_accounts`,
    );
    await flow.look(
      `INSERT INTO provider_models SELECT (m).* FROM (
         SELECT jsonb_populate_record(m, '{"id": "sandbox-video-2"}') AS m FROM provider_models m) AS other`,
    );
    await breakCircuit(flow);
    for (let passes = 0; passes < 3; passes += 1) {
      flow.clock.advance(flow.context.settings.admissionRetryMs);
      await flow.runPass();
    }
    expect(await flow.attempts(id)).toMatchObject([{ status: 'UNKNOWN', accountId: ACCOUNT }]);
    const named = await flow.create();
    await flow.look(`UPDATE provider_models SET status = 'PAUSED' WHERE id = 'sandbox-video-1'`);
    await flow.runPass();
    expect(await flow.attempts(named.id)).toEqual([]);
    expect((await flow.task(named.id)).waitReason).toBe('PROVIDER_PAUSED');
  });
});

describe('a provider that has too many jobs', () => {
  it('gets half as many for a while, once for all that were refused together', async () => {
    const flow = await open({ accountConcurrentMax: 8 });
    await flow.sandbox.queueFaults(['reject_429', 'reject_429', 'reject_429']);
    for (let i = 0; i < 3; i += 1) await flow.create();
    await flow.drain(['reducer']);
    expect(await limitNow(flow)).toBe(4);
    flow.clock.advance(2_000);
    await flow.sandbox.queueFaults(['reject_429']);
    await flow.create();
    await flow.drain(['reducer']);
    expect(await limitNow(flow)).toBe(2);
    flow.clock.advance(flow.context.settings.throttleMs + 60_000);
    expect(await limitNow(flow)).toBe(8);
  });

  it('is believed when it says when to come back, also in a question about an unknown submit', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: ['answer_lost', 'hang'] });
    flow.clock.advance(5_000);
    await flow.relay();
    const [question] = await flow.lose('reconciler');
    if (question === undefined) throw new Error('nothing was asked');
    const busy = {
      reconcile: async () => ({ kind: 'UNAVAILABLE', retryAfterMs: 120_000, code: 'HTTP_429' }),
    } as unknown as ProviderGateway;
    const consume = createReconcileConsumer(flow.context, {
      ...flow.provider,
      slots: flow.slots,
      gatewayOf: () => busy,
    });
    await consume(question, new AbortController().signal);
    const [next] = await flow.look(
      `SELECT available_at FROM outbox_events WHERE type = 'attempt.reconcile.requested' AND status = 'PENDING'`,
    );
    const waitMs = (next?.['available_at'] as Date).getTime() - flow.clock.now().getTime();
    expect(waitMs).toBeGreaterThanOrEqual(120_000);
    expect((await flow.task(id)).status).toBe('SUBMIT_UNKNOWN');
  });
});
