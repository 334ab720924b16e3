import { createHash } from 'node:crypto';

import { toPublicId, toUuid } from '../../../src/resolvers/public-id';
import { useApi } from './support/running-api';
import { walk } from './support/walk-generation';

const api = useApi();

const ASK = `query ($id: ID!) { generation(id: $id) {
  failure { code nextActions money { state held charged returned unknownUntil } }
  lateResults { attemptId seenAt cost { amount currency } outputUrlSha256 }
} }`;

const DAY_MS = 86_400_000;

/** A generation whose only submit could not be decided: its hold released, its attempt watched. */
const makeUndecided = async (): Promise<{ id: string; attemptId: string }> => {
  const { context, database, tenantId } = api();
  const id = await api().create();
  const taskId = toUuid('generation', id);
  await walk(api(), id, 'dispatch_claimed', 'DISPATCHING');
  await walk(api(), id, 'submit_ambiguous', 'SUBMIT_UNKNOWN');
  await walk(api(), id, 'undecidable_window_over', 'EXPIRED');
  const now = context.clock.now();
  const attemptId = context.ids.next(now);
  await database.pool.query(
    `INSERT INTO task_attempts (id, tenant_id, task_id, attempt_no, provider_id, account_id, model, request_key, status,
       version, sent, callback_url, watched_until, outputs, cost_amount, cost_currency, created_at, updated_at)
     VALUES ($1, $2, $3, 1, 'sandbox', 'sandbox-main', 'm', $6, 'ABANDONED', 1, '{}', 'http://127.0.0.1/x', $4,
       '[{"index": 0, "url": "https://out.example/clip.mp4?signature=secret"}]', 0.1, 'USD', $5, $5)`,
    [attemptId, tenantId, taskId, new Date(now.getTime() + 7 * DAY_MS), now, attemptId],
  );
  await database.pool.query(
    `UPDATE generation_tasks SET last_error_code = 'SUBMIT_UNDECIDABLE' WHERE id = $1`,
    [taskId],
  );
  await context.uow.stores.money.closeHold({
    taskId,
    tenantId,
    settlement: {
      settleMicros: 0n,
      releaseMicros: 6_000_000n,
      reason: 'CHARGE_UNKNOWN_RELEASED',
    },
    attemptId: null,
    settleEntryId: context.ids.next(now),
    releaseEntryId: context.ids.next(now),
    now,
  });
  await context.uow.stores.findings.record({
    id: context.ids.next(now),
    kind: 'LATE_RESULT',
    subjectKind: 'attempt',
    subjectId: attemptId,
    tenantId,
    detail: {},
    actionTaken: null,
    now,
  });
  return { id, attemptId };
};

describe('a failure whose outcome is open', () => {
  it('says what is known of the money and until when, and offers no other try', async () => {
    const { id, attemptId } = await makeUndecided();
    const token = await api().tokenOf(api().tenantId, ['generations:read']);
    const { data } = await api().ask(ASK, { id }, { token });
    expect(data.generation.failure).toMatchObject({
      code: 'SUBMIT_UNDECIDABLE',
      nextActions: ['ASK_PROVIDER', 'CONTACT_SUPPORT'],
      money: { state: 'UNKNOWN', held: '0', charged: '0', returned: '6' },
    });
    expect(new Date(data.generation.failure.money.unknownUntil).getTime()).toBeGreaterThan(
      Date.now() + 6 * DAY_MS,
    );
    expect(data.generation.lateResults).toMatchObject([
      {
        attemptId: toPublicId('attempt', attemptId),
        cost: { amount: '0.100000', currency: 'USD' },
        outputUrlSha256: null,
      },
    ]);
  });

  it('tells an operator what else can be done, and of the output only a digest', async () => {
    const { id } = await makeUndecided();
    const { data, text } = await api().ask(ASK, { id });
    expect(data.generation.failure.nextActions).toEqual([
      'ASK_PROVIDER',
      'NEW_ATTEMPT_MAY_BE_CHARGED',
    ]);
    const digest = createHash('sha256').update('https://out.example/clip.mp4').digest('hex');
    expect(data.generation.lateResults).toMatchObject([{ outputUrlSha256: digest }]);
    expect(text).not.toContain('out.example');
  });

  it('offers another try once the provider was watched long enough, after topping up where need be', async () => {
    const { id } = await makeUndecided();
    const { database, tenantId } = api();
    await database.pool.query(`UPDATE task_attempts SET watched_until = created_at`);
    const failure = async () => (await api().ask(ASK, { id })).data.generation.failure;
    expect(await failure()).toMatchObject({
      nextActions: ['RETRY', 'CONTACT_SUPPORT'],
      money: { state: 'RETURNED', unknownUntil: null },
    });
    await database.pool.query('UPDATE accounts SET available_micros = 1 WHERE tenant_id = $1', [
      tenantId,
    ]);
    expect((await failure()).nextActions).toEqual(['TOP_UP', 'RETRY', 'CONTACT_SUPPORT']);
  });
});
