import { quoteGeneration } from '../../../src/flow/create/quote-generation';
import { useFlow, type CreateChanges } from '../../support/flow-harness';
import { countEffects } from '../../support/flow/expectations';
import { MODEL, PRICE_MICROS } from '../../support/flow/seed-catalog';
import { makePicture, openUpload, uploadPicture } from '../../support/flow/uploads';

const open = useFlow();

describe('a create', () => {
  it('writes reservation, task, history and messages together, and answers at once', async () => {
    const flow = await open();
    const task = await flow.create();
    expect(task).toMatchObject({ status: 'QUEUED', version: 4, reservedMicros: PRICE_MICROS });
    expect(await flow.ledger(task.id)).toMatchObject([{ kind: 'RESERVE', amount: PRICE_MICROS }]);
    expect(await flow.balance()).toMatchObject({ heldMicros: PRICE_MICROS });
    expect(await flow.history(task.id)).toEqual([
      'created',
      'validation_started',
      'validation_passed',
      'queued',
    ]);
  });

  it('repeated with its key answers the original, with no second RESERVE and no second message (case 2)', async () => {
    const flow = await open();
    const first = await flow.create({ key: 'mine' });
    const before = await countEffects(flow);
    expect(await flow.tryCreate({ key: 'mine' })).toMatchObject({
      kind: 'REPLAYED',
      task: { id: first.id },
    });
    expect(await countEffects(flow)).toEqual(before);
  });

  it('is answered as a replay though its model has gone meanwhile (case 2)', async () => {
    const flow = await open();
    const first = await flow.create({ key: 'mine' });
    await flow.look(`UPDATE provider_models SET status = 'RETIRED'`);
    expect(await flow.tryCreate({ key: 'mine' })).toMatchObject({
      kind: 'REPLAYED',
      task: { id: first.id },
    });
    expect(await flow.tryCreate({ key: 'other' })).toMatchObject({ code: 'MODEL_UNAVAILABLE' });
  });

  it('sent 64 times at once makes one task and one RESERVE, and all get it (case 3)', async () => {
    const flow = await open();
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, () => flow.tryCreate({ key: 'same' })),
    );
    const ids = outcomes.map((outcome) => ('task' in outcome ? outcome.task.id : outcome.kind));
    expect(new Set(ids).size).toBe(1);
    expect(outcomes.filter(({ kind }) => kind === 'CREATED')).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === 'REPLAYED')).toHaveLength(63);
    expect((await flow.balance()).heldMicros).toBe(PRICE_MICROS);
    expect(await flow.look('SELECT id FROM generation_tasks')).toHaveLength(1);
  });

  it('with one key and different bodies at once has one winner; the others write nothing (case 4)', async () => {
    const flow = await open();
    const outcomes = await Promise.all(
      Array.from({ length: 16 }, (_, seed) => flow.tryCreate({ key: 'same', request: { seed } })),
    );
    expect(outcomes.filter(({ kind }) => kind === 'CREATED')).toHaveLength(1);
    const refused = outcomes.filter((outcome) => outcome.kind === 'REFUSED');
    expect(refused).toHaveLength(15);
    for (const refusal of refused) expect(refusal).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
    const before = await countEffects(flow);
    expect(await flow.tryCreate({ key: 'same', request: { seed: 99 } })).toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
    expect(await countEffects(flow)).toEqual(before);
    expect((await flow.balance()).heldMicros).toBe(PRICE_MICROS);
  });

  it('keeps the keys of tenants apart', async () => {
    const flow = await open();
    const other = await flow.addTenant();
    const mine = await flow.create({ key: 'same' });
    const theirs = await flow.tryCreate({ key: 'same', tenantId: other, request: { seed: 9 } });
    expect(theirs).toMatchObject({ kind: 'CREATED', task: { tenantId: other } });
    expect(theirs).not.toMatchObject({ task: { id: mine.id } });
  });

  it('32 times at once on a balance for 2 is accepted exactly twice (case 10)', async () => {
    const flow = await open({ tenant: { credits: 13n } });
    const outcomes = await Promise.all(
      Array.from({ length: 32 }, (_, n) => flow.tryCreate({ key: `key-of-${n}` })),
    );
    expect(outcomes.filter(({ kind }) => kind === 'CREATED')).toHaveLength(2);
    const refused = outcomes.filter((outcome) => outcome.kind === 'REFUSED');
    expect(refused.map((refusal) => refusal.code)).toEqual(
      Array.from({ length: 30 }, () => 'INSUFFICIENT_CREDITS'),
    );
    expect(await flow.balance()).toEqual({
      availableMicros: 1_000_000n,
      heldMicros: 2n * PRICE_MICROS,
    });
  });

  it('leaves the key free when it was refused', async () => {
    const flow = await open({ tenant: { credits: 1n } });
    expect(await flow.tryCreate({ key: 'mine' })).toMatchObject({ code: 'INSUFFICIENT_CREDITS' });
    await flow.context.uow.stores.money.grant({
      tenantId: flow.tenantId,
      amountMicros: 50_000_000n,
      businessKey: 'grant:more',
      reason: 'TEST',
      actor: 'test',
      entryId: flow.context.ids.next(flow.clock.now()),
      now: flow.clock.now(),
    });
    expect(await flow.tryCreate({ key: 'mine' })).toMatchObject({ kind: 'CREATED' });
  });

  it('waits in no longer queue than the tenant may have', async () => {
    const flow = await open({ tenant: { queuedMax: 1 } });
    await flow.create();
    expect(await flow.tryCreate()).toMatchObject({ code: 'QUEUE_FULL' });
  });
});

describe('a refusal', () => {
  const refusals: [string, CreateChanges, string][] = [
    ['an unknown model', { request: { model: 'nobody' } }, 'MODEL_NOT_FOUND'],
    ['an empty prompt', { request: { prompt: '  \n ' } }, 'PROMPT_EMPTY'],
    ['a prompt that is too long', { request: { prompt: 'x'.repeat(201) } }, 'PROMPT_TOO_LONG'],
    ['an impossible size', { request: { resolution: '9000p' } }, 'RESOLUTION_UNSUPPORTED'],
    ['an impossible shape', { request: { aspectRatio: '7:1' } }, 'ASPECT_RATIO_UNSUPPORTED'],
    ['an impossible duration', { request: { durationMs: 2_500 } }, 'DURATION_UNSUPPORTED'],
    ['a negative seed', { request: { seed: -1 } }, 'SEED_INVALID'],
    ['no idempotency key', { key: '' }, 'IDEMPOTENCY_KEY_INVALID'],
    ['a key with a blank in it', { key: 'a b' }, 'IDEMPOTENCY_KEY_INVALID'],
    ['a ceiling below the price', { maxMicros: PRICE_MICROS - 1n }, 'PRICE_ABOVE_MAX'],
    [
      'an asset that is not there',
      { request: { imageAssetId: '01890000-0000-7000-8000-000000000000' } },
      'ASSET_NOT_FOUND',
    ],
    [
      'a quote that is not there',
      { quoteId: '01890000-0000-7000-8000-000000000000' },
      'QUOTE_NOT_FOUND',
    ],
  ];

  it.each(refusals)('for %s writes nothing and charges nothing', async (_, changes, code) => {
    const flow = await open();
    const before = await countEffects(flow);
    expect(await flow.tryCreate(changes)).toMatchObject({ kind: 'REFUSED', code });
    expect(await countEffects(flow)).toEqual(before);
    expect((await flow.balance()).heldMicros).toBe(0n);
  });

  it('does not say whether the asset of another tenant exists, and names one that is not READY', async () => {
    const flow = await open();
    const theirs = await uploadPicture(flow);
    const stranger = await flow.addTenant();
    const using = (imageAssetId: string, tenantId: string) =>
      flow.tryCreate({ tenantId, request: { imageAssetId } });
    expect(await using(theirs, stranger)).toMatchObject({ code: 'ASSET_NOT_FOUND' });
    const { assetId } = await openUpload(flow, await makePicture());
    expect(await using(assetId, flow.tenantId)).toMatchObject({ code: 'ASSET_NOT_READY' });
    expect(await using(theirs, flow.tenantId)).toMatchObject({ kind: 'CREATED' });
  });

  it('of the content rules is final, audited, and leaves no task', async () => {
    const flow = await open();
    const request = { prompt: 'A beheading in the square' };
    expect(await flow.tryCreate({ key: 'mine', request })).toMatchObject({
      code: 'MODERATION_REJECTED',
    });
    expect(await flow.look('SELECT action FROM audit_log')).toHaveLength(1);
    expect(await flow.look('SELECT id FROM generation_tasks')).toHaveLength(0);
  });

  it('of a paused tenant comes before anything is written', async () => {
    const flow = await open();
    await flow.look(`UPDATE tenants SET status = 'PAUSED'`);
    expect(await flow.tryCreate()).toMatchObject({ code: 'TENANT_PAUSED' });
  });
});

describe('a quote', () => {
  const request = {
    model: MODEL,
    prompt: 'A lighthouse in the rain',
    resolution: '480p',
    durationMs: 2_000,
  };

  it('reserves nothing and is what is charged, though the price has risen since', async () => {
    const flow = await open();
    const quoted = await quoteGeneration(flow.context, { tenantId: flow.tenantId, request });
    if (quoted.kind !== 'QUOTED') throw new Error(quoted.code);
    expect((await flow.balance()).heldMicros).toBe(0n);
    await flow.look(`UPDATE provider_models SET price_per_second = '{"480p": "9000000"}'`);
    const task = await flow.create({ quoteId: quoted.quote.id });
    expect(task.priceMicros).toBe(PRICE_MICROS);
    expect(await flow.tryCreate({ maxMicros: PRICE_MICROS })).toMatchObject({
      code: 'PRICE_ABOVE_MAX',
    });
  });

  it('is refused after its time, for other parameters, and for another tenant', async () => {
    const flow = await open();
    const stranger = await flow.addTenant();
    const quoted = await quoteGeneration(flow.context, { tenantId: flow.tenantId, request });
    if (quoted.kind !== 'QUOTED') throw new Error(quoted.code);
    const quoteId = quoted.quote.id;
    expect(await flow.tryCreate({ quoteId, request: { durationMs: 3_000 } })).toMatchObject({
      code: 'QUOTE_MISMATCH',
    });
    expect(await flow.tryCreate({ quoteId, tenantId: stranger })).toMatchObject({
      code: 'QUOTE_NOT_FOUND',
    });
    flow.clock.advance(flow.context.settings.quoteMs + 1);
    expect(await flow.tryCreate({ quoteId })).toMatchObject({ code: 'QUOTE_EXPIRED' });
  });
});
