import { addTask, addTenant, newId, NOW, useStores } from './fixtures';

const bench = useStores();

const ONCE = [
  'credit_ledger',
  'audit_log',
  'provider_costs',
  'provider_invoices',
  'provider_invoice_items',
  'moderation_decisions',
];

describe('what is written once', () => {
  it.each(ONCE)('cannot be emptied: %s', async (table) => {
    await expect(bench().look(`TRUNCATE ${table} CASCADE`)).rejects.toMatchObject({
      constraint: 'append_only',
    });
  });

  it('cannot be judged otherwise afterwards: moderation_decisions', async () => {
    const task = await addTask(bench(), await addTenant(bench()));
    await bench().stores.moderation.record({
      id: newId(),
      tenantId: task.tenantId,
      subjectKind: 'PROMPT',
      subjectId: task.id,
      verdict: 'REJECT',
      reasonCode: null,
      rulesVersion: 'person',
      decidedBy: 'test',
      now: NOW,
    });
    for (const change of [
      "UPDATE moderation_decisions SET verdict = 'APPROVE'",
      'DELETE FROM moderation_decisions',
    ]) {
      await expect(bench().look(change)).rejects.toMatchObject({ constraint: 'append_only' });
    }
  });

  it.each([
    ['ADJUSTMENT', '9, 0, 0'],
    ['ADJUSTMENT', '9, 8, 0'],
    ['ADJUSTMENT', '9, 9, 9'],
    ['GRANT', '9, -9, 0'],
    ['REFUND', '9, 0, 0'],
    ['RESERVE', '9, 9, -9'],
    ['SETTLE', '9, -9, 0'],
    ['RELEASE', '9, 9, 0'],
  ])('is no entry whose amount is not what it moves: %s of %s', async (kind, moved) => {
    const tenantId = await addTenant(bench());
    await expect(
      bench().look(
        `INSERT INTO credit_ledger (id, tenant_id, kind, amount_micros, available_delta, held_delta, unit, business_key,
           reason, actor, created_at)
         VALUES ('${newId()}', '${tenantId}', '${kind}', ${moved}, 'MICRO_CREDIT', 'x', 'x', 'x', now())`,
      ),
    ).rejects.toMatchObject({ constraint: 'credit_ledger_deltas_check' });
  });
});
