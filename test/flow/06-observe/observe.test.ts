import { pollDueAttempts } from '../../../src/flow/observe/poll-attempts';
import { recordObservation } from '../../../src/flow/observe/record-observation';
import { createOrphanMatcher } from '../../../src/flow/reconcile/recover-resources';
import { createSubmitConsumer } from '../../../src/flow/submit/submit-attempt';
import { useFlow, type Flow } from '../../support/flow-harness';
import { countEffects } from '../../support/flow/expectations';
import { SimulatedCrash } from '../../support/flow/message-driver';
import { observation, reduceAll, say } from '../../support/flow/observations';

const open = useFlow();

const pollAndReduce = async (flow: Flow): Promise<void> => {
  await flow.poll();
  await reduceAll(flow);
};

describe('polling', () => {
  it('ends a task that no callback ever comes for (case 25)', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'callback_never' });
    expect((await flow.finishJob(id)).status).toBe('OUTPUT_FETCHING');
    expect(flow.callbacks.of((await flow.attempt(id)).requestKey)).toEqual([]);
  });

  it('does not take a 404 right after the submit for an end (case 24)', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'poll_404' });
    await flow.jobReached(id);
    await pollAndReduce(flow);
    expect((await flow.task(id)).status).toBe('SUBMITTED');
    expect(await flow.attempt(id)).toMatchObject({ status: 'ACKED', pollErrors: 1 });
    expect((await flow.finishJob(id)).status).toBe('OUTPUT_FETCHING');
  });

  it('never fails a task for polls that fail, and sees the success behind them (case 22)', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'poll_500' });
    await flow.jobReached(id);
    for (let polls = 1; polls <= 3; polls += 1) {
      await pollAndReduce(flow);
      expect((await flow.task(id)).status).toBe('SUBMITTED');
      expect((await flow.attempt(id)).pollErrors).toBe(polls);
    }
    expect((await flow.finishJob(id)).status).toBe('OUTPUT_FETCHING');
    expect((await flow.history(id)).filter((type) => type.includes('failed'))).toEqual([]);
  });

  it('sees a failure with the very poll that shows it (case 22)', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: ['failed_late', 'callback_never'] });
    for (const expected of ['RUNNING', 'RUNNING', 'FAILED']) {
      await pollAndReduce(flow);
      expect((await flow.attempt(id)).status).toBe(expected);
    }
    expect((await flow.task(id)).status).toBe('RETRY_WAIT');
  });

  it('goes on behind a word that nobody knows (case 23)', async () => {
    const flow = await open();
    const { id } = await flow.submit({
      fault: ['unknown_status', 'callback_never'],
      faultParams: { times: 2 },
    });
    await flow.jobReached(id);
    await pollAndReduce(flow);
    await pollAndReduce(flow);
    expect((await flow.task(id)).status).toBe('SUBMITTED');
    expect(await flow.findings()).toEqual(['UNRECOGNIZED_STATUS']);
    await pollAndReduce(flow);
    expect((await flow.task(id)).status).toBe('OUTPUT_FETCHING');
  });

  it('asks less and less often, and again soon after an error', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'hang' });
    const waits: number[] = [];
    for (let polls = 0; polls < 5; polls += 1) {
      await flow.poll();
      const { nextPollAt } = await flow.attempt(id);
      waits.push((nextPollAt?.getTime() ?? 0) - flow.clock.now().getTime());
    }
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
    expect(waits[0]).toBeLessThan(waits[4] ?? 0);
    expect(Math.max(...waits)).toBeLessThanOrEqual(flow.context.settings.pollMsMax * 1.2);
    await flow.cancel(id);
  });

  it('is taken over after the death of a poller, and one attempt that fails stops no other', async () => {
    const flow = await open();
    const [first, second] = [await flow.submit(), await flow.submit()];
    await flow.jobReached(second.id);
    flow.crashAt('poll.after_claim_before_http');
    await expect(flow.poll()).rejects.toThrow(SimulatedCrash);
    flow.disarm();
    expect(await pollDueAttempts(flow.context, flow.provider, 10)).toBe(0);
    flow.clock.advance(30_000);
    const poor = (await flow.attempt(first.id)).id;
    let asked = 0;
    const deps = {
      gatewayOf: flow.provider.gatewayOf,
      accountOf: (accountId: string) => {
        asked += 1;
        return asked === 1
          ? Promise.reject(new Error(`no secret for ${poor}`))
          : flow.provider.accountOf(accountId);
      },
    };
    expect(await pollDueAttempts(flow.context, deps, 10)).toBe(2);
    await reduceAll(flow);
    const statuses = [(await flow.task(first.id)).status, (await flow.task(second.id)).status];
    expect(statuses.filter((status) => status === 'SUBMITTED')).toHaveLength(1);
    expect((await flow.finishJob(first.id)).status).toBe('OUTPUT_FETCHING');
  });
});

describe('callbacks', () => {
  it('of the end alone are enough (case 25)', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'callback_only_final' });
    const { requestKey } = await flow.attempt(id);
    await flow.callbacks.admit(await flow.callbacks.arrived(requestKey, 'succeeded'));
    await reduceAll(flow);
    expect((await flow.task(id)).status).toBe('OUTPUT_FETCHING');
  });

  it('50 times the same at once are one transition and all taken; an older status later is ignored (case 26)', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'callback_out_of_order' });
    const { requestKey } = await flow.attempt(id);
    const end = await flow.callbacks.arrived(requestKey, 'succeeded');
    const older = await flow.callbacks.arrived(requestKey, 'processing');
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => flow.callbacks.admit(end)));
    expect(outcomes.filter(({ kind }) => kind === 'STORED')).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === 'REPEATED')).toHaveLength(49);
    await reduceAll(flow);
    const { version, status } = await flow.task(id);
    expect(status).toBe('OUTPUT_FETCHING');
    expect(await flow.look('SELECT duplicates FROM provider_events')).toEqual([{ duplicates: 49 }]);
    expect(await flow.callbacks.admit(older)).toEqual({ kind: 'STORED' });
    await reduceAll(flow);
    expect(await flow.task(id)).toMatchObject({ version, status });
    expect((await flow.history(id)).at(-1)).toBe('!ALREADY_PAST');
  });

  it('that arrive twice are told so and change nothing', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'callback_twice' });
    const { requestKey } = await flow.attempt(id);
    const end = await flow.callbacks.arrived(requestKey, 'succeeded');
    expect(await flow.callbacks.admit(end)).toEqual({ kind: 'STORED' });
    await reduceAll(flow);
    const before = await countEffects(flow);
    expect(await flow.callbacks.admit(end)).toEqual({ kind: 'REPEATED' });
    await reduceAll(flow);
    expect(await countEffects(flow)).toEqual(before);
  });

  it('that nobody signed, or signed too long ago, are refused and store nothing', async () => {
    const flow = await open();
    const { id } = await flow.submit();
    const { requestKey } = await flow.attempt(id);
    const end = await flow.callbacks.arrived(requestKey, 'succeeded');
    const before = await countEffects(flow);
    const forged = { ...end, rawBody: Buffer.concat([end.rawBody, Buffer.from(' ')]) };
    expect(await flow.callbacks.admit(forged)).toMatchObject({ kind: 'REFUSED' });
    expect(await flow.callbacks.admit({ ...end, path: '/callbacks/nobody/key' })).toEqual({
      kind: 'UNKNOWN_PROVIDER',
    });
    flow.clock.advance(400_000);
    expect(await flow.callbacks.admit(end)).toMatchObject({
      kind: 'REFUSED',
      reason: 'STALE_TIMESTAMP',
    });
    expect(await countEffects(flow)).toEqual(before);
  });

  it('survive a death before the answer: the repeat is told that it is one', async () => {
    const flow = await open();
    const { id } = await flow.submit();
    const { requestKey } = await flow.attempt(id);
    const end = await flow.callbacks.arrived(requestKey, 'succeeded');
    flow.crashAt('callback.after_verify_before_db');
    await expect(flow.callbacks.admit(end)).rejects.toThrow(SimulatedCrash);
    flow.crashAt('callback.after_db_before_answer');
    await expect(flow.callbacks.admit(end)).rejects.toThrow(SimulatedCrash);
    flow.disarm();
    expect(await flow.callbacks.admit(end)).toEqual({ kind: 'REPEATED' });
    await reduceAll(flow);
    expect((await flow.task(id)).status).toBe('OUTPUT_FETCHING');
  });
});

describe('an observation', () => {
  it('is written together with its message, or not at all', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: ['hang', 'callback_never'] });
    await say(flow, await flow.attempt(id), { progress: 10 });
    // Of one transaction: the row that was written first would otherwise outlive a death between both.
    expect(
      await flow.look(
        `SELECT e.xmin = m.xmin AS together FROM provider_events e
         LEFT JOIN outbox_events m ON m.aggregate_id = e.id WHERE e.request_key IS NOT NULL`,
      ),
    ).toEqual([{ together: true }]);
  });

  it('never moves progress back, nor to the end before the end (case 25)', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: ['hang', 'callback_never'] });
    const attempt = await flow.attempt(id);
    const seen: number[] = [];
    for (const progress of [10, 60, 30, 100, 5]) {
      await say(flow, attempt, { progress });
      await reduceAll(flow);
      seen.push((await flow.task(id)).progress);
    }
    expect(seen).toEqual([10, 60, 60, 99, 99]);
    expect((await flow.task(id)).status).toBe('RUNNING');
  });

  it('that lands before the answer of the submit is stored moves the task; the answer then changes nothing (case 27)', async () => {
    const flow = await open();
    const { id } = await flow.create({ fault: ['callback_before_answer', 'hang'] });
    await flow.relay();
    await flow.deliver('scheduler');
    await flow.relay();
    const { requestKey } = await flow.attempt(id);
    const real = flow.provider.gatewayOf('sandbox');
    const submit = createSubmitConsumer(flow.context, {
      ...flow.provider,
      gatewayOf: () => ({
        ...real,
        submit: async (...args) => {
          const outcome = await real.submit(...args);
          await flow.callbacks.admit(await flow.callbacks.arrived(requestKey, 'processing'));
          await reduceAll(flow);
          expect((await flow.task(id)).status).toBe('RUNNING');
          return outcome;
        },
      }),
    });
    const [delivery] = await flow.bus.receive('provider', {
      max: 1,
      leaseMs: 1,
      now: flow.clock.now(),
    });
    if (delivery === undefined) throw new Error('nothing is to be sent');
    const before = (await flow.task(id)).version;
    expect(await submit(delivery.envelope, new AbortController().signal)).toEqual({
      kind: 'APPLIED',
    });
    expect(await flow.task(id)).toMatchObject({ status: 'RUNNING', version: before + 2 });
  });

  it('of a job that nobody knows yet is joined as soon as the job is known (case 27)', async () => {
    const flow = await open();
    const { id } = await flow.create({ fault: 'hang' });
    await flow.drain(['provider']);
    const real = flow.provider.gatewayOf('sandbox');
    const submit = createSubmitConsumer(flow.context, {
      ...flow.provider,
      gatewayOf: () => ({
        ...real,
        submit: async (...args) => {
          const outcome = await real.submit(...args);
          if (outcome.kind !== 'ACCEPTED') throw new Error(outcome.kind);
          // Nothing in it tells whose it is: neither a key of ours nor a job we know.
          await recordObservation(flow.context, {
            providerId: 'sandbox',
            accountId: 'sandbox-main',
            source: 'callback',
            sourceEventId: 'event-1',
            requestKey: null,
            observation: observation(outcome.jobId),
          });
          await reduceAll(flow);
          expect(await flow.context.uow.stores.providerEvents.countOrphans()).toBe(1);
          expect((await flow.task(id)).status).toBe('DISPATCHING');
          return outcome;
        },
      }),
    });
    const [delivery] = await flow.bus.receive('provider', {
      max: 1,
      leaseMs: 1,
      now: flow.clock.now(),
    });
    if (delivery === undefined) throw new Error('nothing is to be sent');
    await submit(delivery.envelope, new AbortController().signal);
    await reduceAll(flow);
    expect((await flow.task(id)).status).toBe('RUNNING');
    expect(await flow.context.uow.stores.providerEvents.countOrphans()).toBe(0);
  });

  it('whose message was lost is asked for again, but not with every look', async () => {
    const flow = await open();
    const { id } = await flow.submit();
    await flow.jobReached(id);
    await flow.poll();
    await flow.relay();
    expect(await flow.lose('reducer')).toHaveLength(1);
    const match = createOrphanMatcher(flow.context);
    expect(await match()).toBe(0);
    flow.clock.advance(2_000);
    expect(await match()).toBe(1);
    expect(await match()).toBe(0);
    flow.clock.advance(3_000);
    expect(await match()).toBe(0);
    await reduceAll(flow);
    expect((await flow.task(id)).status).toBe('OUTPUT_FETCHING');
    flow.clock.advance(60_000);
    expect(await match()).toBe(0);
  });
});
