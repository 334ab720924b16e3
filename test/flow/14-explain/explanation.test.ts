import { createPrisma } from '../../../src/adapters/postgres/prisma-client';
import { createReadModel } from '../../../src/adapters/postgres/read-model';
import { explainGeneration, type Explanation } from '../../../src/flow/explain/explain-generation';
import { entryInWords } from '../../../src/flow/explain/entry-words';
import { receiveCallback } from '../../../src/flow/observe/receive-callback';
import type { ReadModel } from '../../../src/ports/read-model';
import { useFlow, type Flow } from '../../support/flow-harness';
import { onlyProxy } from '../../support/flow/expectations';

let closeReads: (() => Promise<void>) | undefined;
// Before the flow's own: its database is dropped only when nobody uses it any more.
afterEach(async () => {
  await closeReads?.();
  closeReads = undefined;
});
const open = useFlow();

const readsOf = (flow: Flow): ReadModel => {
  const prisma = createPrisma({ connectionString: flow.database.url, max: 2 });
  closeReads = () => prisma.$disconnect();
  return createReadModel(prisma);
};

const explain = async (
  flow: Flow,
  reads: ReadModel,
  taskId: string,
  isOperator = false,
): Promise<Explanation> => {
  const viewer = { tenantId: flow.tenantId, isOperator };
  const told = await explainGeneration(flow.context, { reads, slots: flow.slots }, viewer, taskId);
  if (told === null) throw new Error('nothing was told');
  return told;
};

const wordsOf = ({ entries }: Explanation): string[] =>
  entries.map(({ kind, what }) => `${kind} ${what}`);

describe('the explanation of a generation', () => {
  it('tells everything from the call to the playable file, each thing once, in one order', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const reads = readsOf(flow);
    const { id } = await flow.create();
    flow.clock.advance(1);
    await flow.relay();
    await flow.deliver('scheduler');
    flow.clock.advance(1);
    await flow.relay();
    await flow.deliver('provider');
    flow.clock.advance(1);
    const attempt = await flow.attempt(id);
    const callback = { providerId: attempt.providerId, requestKey: attempt.requestKey };
    for (const requestKey of [attempt.requestKey, attempt.requestKey, 'nobody-has-this-key']) {
      await receiveCallback(
        flow.context,
        { gatewayOf: flow.provider.gatewayOf, accountsOf: async () => [await account(flow)] },
        { ...callback, requestKey, headers: {}, rawBody: Buffer.from('{}') },
      );
    }
    await flow.finishJob(id);
    for (const group of ['output-fetch', 'media', 'billing'] as const) {
      flow.clock.advance(1);
      await flow.relay();
      await flow.deliver(group);
    }
    const told = await explain(flow, reads, id);
    expect(told.next).toMatchObject({ actor: 'NOBODY', at: null });
    expect(told.wait).toBeNull();
    expect(wordsOf(told)).toEqual([
      'API_CALL generationCreate',
      'MODERATION approve',
      'TRANSITION created',
      'TRANSITION validation_started',
      'TRANSITION validation_passed',
      'TRANSITION queued',
      'LEDGER RESERVE',
      'TRANSITION dispatch_claimed',
      'ATTEMPT written',
      'ATTEMPT sent',
      'ATTEMPT accepted',
      'TRANSITION provider_accepted',
      'CALLBACK refused',
      'ATTEMPT ended',
      'PROVIDER_ANSWER succeeded',
      'TRANSITION provider_succeeded',
      'TRANSITION output_persisted',
      'MEDIA raw_output',
      'MODERATION approve',
      'TRANSITION playable_asset_ready',
      'LEDGER SETTLE',
      'MEDIA proxy',
    ]);
    const refused = told.entries.find(({ what }) => what === 'refused');
    expect(refused?.facts).toMatchObject({ reason: 'BAD_SIGNATURE', refusals: 2 });
    for (const entry of told.entries) expect(entryInWords(entry)).not.toMatch(/undefined|null/);
  });

  it('holds no prompt, no signed URL, no key of the attempt and no secret', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const reads = readsOf(flow);
    const prompt = 'A canary in a coal mine';
    const { id } = await flow.submit({ request: { prompt } });
    await flow.finishJob(id);
    await flow.drain();
    const attempt = await flow.attempt(id);
    for (const isOperator of [false, true]) {
      const text = JSON.stringify(
        await explain(flow, reads, id, isOperator),
        (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value),
      );
      expect(text).not.toContain(prompt);
      expect(text).not.toContain(attempt.requestKey);
      expect(text).not.toContain(attempt.callbackUrl);
      expect(attempt.outputs).toHaveLength(1);
      for (const output of attempt.outputs ?? []) expect(text).not.toContain(output.url);
      expect(text).not.toContain((await account(flow)).apiKey);
      expect(text).not.toMatch(/https?:\/\//);
    }
  });

  it('says who acts next and when, and names operators to operators only', async () => {
    const flow = await open();
    const reads = readsOf(flow);
    const { id } = await flow.submit({ fault: 'not_created_lost' });
    const unknown = await explain(flow, reads, id);
    expect(unknown.next.actor).toBe('RECONCILER');
    expect(unknown.next.at?.getTime()).toBeGreaterThanOrEqual(flow.clock.now().getTime());
    const now = flow.clock.now();
    await flow.context.uow.stores.audit.record({
      id: flow.context.ids.next(now),
      tenantId: flow.tenantId,
      actor: 'api_key:maria',
      action: 'task.looked_at',
      subjectKind: 'task',
      subjectId: id,
      reason: 'a note about somebody else',
      before: null,
      after: { note: 'internal' },
      now,
    });
    const mine = (await explain(flow, reads, id)).entries.find(({ kind }) => kind === 'OPERATOR');
    expect(mine).toMatchObject({ actor: 'operator', what: 'task.looked_at', facts: {} });
    const theirs = (await explain(flow, reads, id, true)).entries.find(
      ({ kind }) => kind === 'OPERATOR',
    );
    expect(theirs).toMatchObject({ actor: 'api_key:maria' });
    expect(theirs?.facts).toMatchObject({ reason: 'a note about somebody else' });
    const other = await flow.addTenant();
    const deps = { reads, slots: flow.slots };
    const stranger = { tenantId: other, isOperator: false };
    expect(await explainGeneration(flow.context, deps, stranger, id)).toBeNull();
    const operator = { tenantId: other, isOperator: true };
    expect(await explainGeneration(flow.context, deps, operator, id)).not.toBeNull();
  });
});

const account = (flow: Flow) => flow.provider.accountOf('sandbox-main');
