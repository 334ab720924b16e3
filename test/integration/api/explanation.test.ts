import { Client } from 'pg';

import { toUuid } from '../../../src/resolvers/public-id';
import { useApi } from './support/running-api';
import { walk, walkToRunning, walkToSuccess } from './support/walk-generation';

const api = useApi();

const EXPLAIN = `query ($id: ID!) { generationExplanation(id: $id) {
  generationId isCut
  entries { at kind source what text actor attemptId facts { name value } }
  now { status actor doing at leaseUntil
    wait { reason text since until position estimateMs limit { name used max position } } }
} }`;

const explain = async (id: string, token?: string) => {
  const { data, errors } = await api().ask(EXPLAIN, { id }, token === undefined ? {} : { token });
  expect(errors).toEqual([]);
  return data.generationExplanation;
};

describe('generationExplanation', () => {
  it('says who made the call, what happened and what is next', async () => {
    const id = await api().create({ idempotencyKey: 'explained' });
    const told = await explain(id);
    expect(told.generationId).toBe(id);
    expect(told.isCut).toBe(false);
    const [call] = told.entries;
    expect(call).toMatchObject({ kind: 'API_CALL', source: 'api' });
    const facts = Object.fromEntries(
      call.facts.map(({ name, value }: { name: string; value: string }) => [name, value]),
    );
    expect(facts).toMatchObject({ idempotencyKey: 'explained', apiKeyName: 'test' });
    expect(facts['apiKeyId']).toMatch(/^key_/);
    expect(told.now).toMatchObject({
      status: 'QUEUED',
      actor: 'SCHEDULER',
      wait: { reason: 'IN_LINE', position: 1, limit: null, text: 'next in line' },
    });
  });

  it('costs as many statements after a long life as after a short one', async () => {
    const [short, long] = [await api().create(), await api().create()];
    await walk(api(), short, 'dispatch_claimed', 'DISPATCHING');
    await walkToRunning(api(), long);
    await walkToSuccess(api(), long);
    const { context, tenantId } = api();
    const task = await context.uow.stores.tasks.read(toUuid('generation', long));
    if (task === null) throw new Error('it is gone');
    for (let i = 0; i < 30; i += 1) {
      const now = context.clock.now();
      await context.uow.stores.tasks.recordIgnored({
        task,
        type: 'job_observed',
        reason: 'TERMINAL',
        eventId: context.ids.next(now),
        origin: {
          source: 'polling',
          sourceEventId: null,
          attemptId: null,
          providerUpdatedAt: null,
          payload: null,
        },
        now,
      });
    }
    expect(tenantId).toBe(task.tenantId);
    const statements = async (id: string): Promise<number> => {
      const spy = jest.spyOn(Client.prototype, 'query');
      await explain(id);
      // The key is read anew every two seconds, whatever is asked: it is not what is measured.
      const count = spy.mock.calls.filter(
        (call) => !textOf(call[0]).includes('secret_hash'),
      ).length;
      spy.mockRestore();
      return count;
    };
    await statements(short);
    const few = await statements(short);
    expect(few).toBeGreaterThanOrEqual(3);
    expect(few).toBeLessThanOrEqual(6);
    expect(await statements(long)).toBe(few);
  });

  it('is nothing to another tenant, and anything to an operator', async () => {
    const id = await api().create();
    const other = await api().addTenant();
    const stranger = await api().tokenOf(other, ['generations:read']);
    const operator = await api().tokenOf(other, ['operator']);
    expect(await explain(id, stranger)).toBeNull();
    expect(await explain('gen_01h455vb4pex5vsknk084sn02q', operator)).toBeNull();
    expect((await explain(id, operator)).generationId).toBe(id);
    const without = await api().tokenOf(other, ['ledger:read']);
    expect((await api().ask(EXPLAIN, { id }, { token: without })).errors).toMatchObject([
      { extensions: { code: 'FORBIDDEN' } },
    ]);
  });
});

describe('retryBudgets', () => {
  it('are shown once a step was tried', async () => {
    const id = await api().create();
    const ask = async () =>
      (
        await api().ask(
          'query ($id: ID!) { generation(id: $id) { retryBudgets { step triesUsed triesMax waitUntil spentBy } } }',
          { id },
        )
      ).data.generation.retryBudgets;
    expect(await ask()).toEqual([]);
    await api().database.pool.query('UPDATE generation_tasks SET submit_tries = 1 WHERE id = $1', [
      toUuid('generation', id),
    ]);
    expect(await ask()).toEqual([
      { step: 'submit', triesUsed: 1, triesMax: 5, waitUntil: null, spentBy: null },
    ]);
  });
});

describe('providerAccounts', () => {
  const ACCOUNTS = `{ providerAccounts { id provider status used max maxNow throttledUntil circuit
    circuitFailures openUntil probeUntil } }`;

  it('shows an operator limits and circuits, and nobody else', async () => {
    const { context, database, tenantId } = api();
    const openUntil = new Date(context.clock.now().getTime() + 60_000);
    await database.pool.query(
      `UPDATE provider_accounts SET circuit_failures = 5, circuit_open_until = $1, throttled_max = 3, throttled_until = $1`,
      [openUntil],
    );
    expect((await api().ask(ACCOUNTS)).data.providerAccounts).toEqual([
      {
        id: 'sandbox-main',
        provider: 'sandbox',
        status: 'ACTIVE',
        used: 0,
        max: 10,
        maxNow: 3,
        throttledUntil: openUntil.toISOString(),
        circuit: 'OPEN',
        circuitFailures: 5,
        openUntil: openUntil.toISOString(),
        probeUntil: null,
      },
    ]);
    const token = await api().tokenOf(tenantId, ['generations:read']);
    expect((await api().ask(ACCOUNTS, {}, { token })).errors).toMatchObject([
      { extensions: { code: 'FORBIDDEN' } },
    ]);
  });
});

const textOf = (query: unknown): string =>
  typeof query === 'string' ? query : ((query as { text?: string } | null)?.text ?? '');
