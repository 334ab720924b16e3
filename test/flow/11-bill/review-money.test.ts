import { refundGeneration } from '../../../src/flow/bill/refund-credits';
import { setSpendLimit } from '../../../src/flow/bill/set-spend-limit';
import { decideAssetReview, decideGenerationReview } from '../../../src/flow/operate/decide-review';
import { MICROS_PER_CREDIT } from '../../../src/domain/kernel/money';
import type { Moderation } from '../../../src/ports/moderation';
import { useFlow, type Flow } from '../../support/flow-harness';
import { onlyProxy } from '../../support/flow/expectations';
import { PRICE_MICROS } from '../../support/flow/seed-catalog';

const open = useFlow();

const OUTPUT_REVIEWED: Moderation = {
  rulesVersion: 'test-1',
  judgePrompt: () => Promise.resolve({ verdict: 'APPROVE' }),
  judgeMedia: () => Promise.resolve({ verdict: 'REVIEW', reasonCode: 'KNOWN_FILE' }),
};

const DECISION = { actor: 'operator:1', reason: 'seen' } as const;

const inReview = async (flow: Flow): Promise<string> => {
  const { id } = await flow.submit();
  await flow.finishJob(id);
  await flow.drain(['media']);
  return id;
};

const reject = async (flow: Flow, id: string) =>
  decideAssetReview(flow.context, (await flow.task(id)).outputAssetId ?? '', {
    ...DECISION,
    verdict: 'REJECT',
  });

const refunds = async (flow: Flow, id: string) =>
  (await flow.ledger(id)).filter(({ kind }) => kind === 'REFUND').map(({ amount }) => amount);

describe('an output that a person takes back', () => {
  it('gives back what no refund gave back before', async () => {
    const flow = await open({ toolkit: onlyProxy, moderation: OUTPUT_REVIEWED });
    const id = await inReview(flow);
    await flow.drain();
    await refundGeneration(flow.context, {
      ...{ taskId: id, amountMicros: MICROS_PER_CREDIT, reference: null },
      ...DECISION,
    });
    expect(await reject(flow, id)).toMatchObject({ kind: 'DONE' });
    expect(await refunds(flow, id)).toEqual([MICROS_PER_CREDIT, PRICE_MICROS - MICROS_PER_CREDIT]);
  });

  it('while its charge is not booked yet is asked for again later, and nothing is decided', async () => {
    const flow = await open({
      ...{ toolkit: onlyProxy, moderation: OUTPUT_REVIEWED, ledgerWaitMs: 150 },
    });
    const id = await inReview(flow);
    const client = await flow.database.pool.connect();
    await client.query('BEGIN');
    await client.query('SELECT 1 FROM accounts FOR UPDATE');
    try {
      await flow.drain(['billing']);
      expect(await reject(flow, id)).toMatchObject({ code: 'SETTLEMENT_PENDING' });
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
    expect(
      await flow.look('SELECT 1 FROM moderation_decisions WHERE decided_by = $1', ['operator:1']),
    ).toEqual([]);
    expect(await reject(flow, id)).toMatchObject({ kind: 'DONE' });
    // The message of the settlement comes late, and finds it done.
    await flow.drain();
    expect((await flow.ledger(id)).map(({ kind }) => kind)).toEqual([
      'RESERVE',
      'SETTLE',
      'REFUND',
    ]);
    expect(await refunds(flow, id)).toEqual([PRICE_MICROS]);
  });
});

describe('a prompt that a person approves', () => {
  it('beyond the budget stays in review, and goes on when there is one', async () => {
    const flow = await open();
    const { id } = await flow.create({ request: { prompt: 'A nude statue by the sea' } });
    const limit = (limitMicros: bigint | null) =>
      setSpendLimit(flow.context, {
        ...{ tenantId: flow.tenantId, apiKeyId: null, ...DECISION },
        limit: limitMicros === null ? null : { period: 'MONTH', limitMicros },
      });
    await limit(PRICE_MICROS - 1n);
    const approve = () =>
      decideGenerationReview(flow.context, id, { ...DECISION, verdict: 'APPROVE' });
    expect(await approve()).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: expect.stringContaining('5.999999 credits left') as string,
    });
    expect((await flow.task(id)).status).toBe('VALIDATING');
    await limit(null);
    expect(await approve()).toMatchObject({ kind: 'DONE' });
  });
});
