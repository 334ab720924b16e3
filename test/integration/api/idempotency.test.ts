import { randomUUID } from 'node:crypto';

import { eventually } from '../../support/eventually';
import {
  CREATE,
  REQUEST,
  useApi,
  useOwnApi,
  type Answer,
  type RunningApi,
} from './support/running-api';

const running = useApi();

const outboxOf = async (api: RunningApi, key: string): Promise<Record<string, number>> => {
  const { rows } = await api.database.pool.query<Record<string, number>>(
    `WITH task AS (SELECT id FROM generation_tasks WHERE client_idempotency_key = $1)
     SELECT (SELECT count(*)::integer FROM task) AS tasks,
       (SELECT count(*)::integer FROM outbox_events WHERE aggregate_id IN (SELECT id FROM task)) AS outbox,
       (SELECT count(*)::integer FROM credit_ledger WHERE task_id IN (SELECT id FROM task)) AS ledger,
       (SELECT count(*)::integer FROM holds WHERE task_id IN (SELECT id FROM task)) AS holds`,
    [key],
  );
  return rows[0] ?? {};
};

const payloadOf = ({ data }: Answer) => data.generationCreate;

describe('a generation created again with the same key', () => {
  it('and the same request is the original, marked as a replay, and writes nothing', async () => {
    const api = running();
    const input = { ...REQUEST, idempotencyKey: randomUUID() };
    const first = await api.ask(CREATE, { input });
    expect(first.status).toBe(202);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    const before = await outboxOf(api, input.idempotencyKey);
    const again = await api.ask(CREATE, { input });
    expect(again.status).toBe(202);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(payloadOf(again)).toEqual({ ...payloadOf(first), replayed: true });
    expect(await outboxOf(api, input.idempotencyKey)).toEqual(before);
    expect(before).toEqual({ tasks: 1, outbox: 2, ledger: 1, holds: 1 });
  });

  it('and defaults spelled out is the same request', async () => {
    const api = running();
    const input = { ...REQUEST, idempotencyKey: randomUUID() };
    const first = payloadOf(await api.ask(CREATE, { input }));
    const spelled = {
      ...input,
      aspectRatio: '16:9',
      withAudio: true,
      prompt: ` ${REQUEST.prompt} `,
    };
    const again = payloadOf(await api.ask(CREATE, { input: spelled }));
    expect(again).toMatchObject({ generation: { id: first.generation.id }, replayed: true });
  });

  it('but another request is a conflict that writes nothing', async () => {
    const api = running();
    const input = { ...REQUEST, idempotencyKey: randomUUID() };
    await api.ask(CREATE, { input });
    const before = await outboxOf(api, input.idempotencyKey);
    const answer = await api.ask(CREATE, { input: { ...input, prompt: 'another one' } });
    expect(answer.status).toBe(200);
    expect(payloadOf(answer)).toMatchObject({
      generation: null,
      replayed: false,
      userErrors: [{ code: 'IDEMPOTENCY_CONFLICT', field: 'idempotencyKey' }],
    });
    expect(await outboxOf(api, input.idempotencyKey)).toEqual(before);
  });

  it('by another tenant is a generation of its own', async () => {
    const api = running();
    const input = { ...REQUEST, idempotencyKey: randomUUID() };
    const first = payloadOf(await api.ask(CREATE, { input }));
    const token = await api.tokenOf(await api.addTenant());
    const other = payloadOf(await api.ask(CREATE, { input }, { token }));
    expect(other.replayed).toBe(false);
    expect(other.generation.id).not.toBe(first.generation.id);
  });
});

describe('the key as a header', () => {
  it.each([(key: string) => key, (key: string) => `"${key}"`])(
    'is as good as the field, bare or in quotes',
    async (spell) => {
      const api = running();
      const key = randomUUID();
      const headers = { 'idempotency-key': spell(key) };
      const first = payloadOf(await api.ask(CREATE, { input: REQUEST }, { headers }));
      const again = payloadOf(
        await api.ask(CREATE, { input: { ...REQUEST, idempotencyKey: key } }),
      );
      expect(again).toMatchObject({ generation: { id: first.generation.id }, replayed: true });
    },
  );

  it('may repeat the field', async () => {
    const idempotencyKey = randomUUID();
    const headers = { 'idempotency-key': idempotencyKey };
    const answer = await running().ask(
      CREATE,
      { input: { ...REQUEST, idempotencyKey } },
      { headers },
    );
    expect(payloadOf(answer).userErrors).toEqual([]);
  });

  it('must not contradict the field', async () => {
    const api = running();
    const before = await api.count('generation_tasks');
    const answer = await api.ask(
      CREATE,
      { input: { ...REQUEST, idempotencyKey: randomUUID() } },
      { headers: { 'idempotency-key': randomUUID() } },
    );
    expect(payloadOf(answer)).toMatchObject({
      generation: null,
      userErrors: [{ code: 'IDEMPOTENCY_KEY_MISMATCH', field: 'idempotencyKey' }],
    });
    expect(await api.count('generation_tasks')).toBe(before);
  });
});

describe('64 first requests at once', () => {
  it('with one key and body make one generation, which all of them get', async () => {
    const api = running();
    const input = { ...REQUEST, idempotencyKey: randomUUID() };
    const answers = await Promise.all(Array.from({ length: 64 }, () => api.ask(CREATE, { input })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    const payloads = answers.map(payloadOf);
    expect(new Set(payloads.map(({ generation }) => generation.id)).size).toBe(1);
    expect(payloads.filter(({ replayed }) => replayed === false)).toHaveLength(1);
    expect(await outboxOf(api, input.idempotencyKey)).toEqual({
      tasks: 1,
      outbox: 2,
      ledger: 1,
      holds: 1,
    });
  });

  it('with one key and two bodies make one generation; the others get the conflict', async () => {
    const api = running();
    const input = { ...REQUEST, idempotencyKey: randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        api.ask(CREATE, { input: { ...input, prompt: index % 2 === 0 ? 'one' : 'two' } }),
      ),
    );
    const payloads = answers.map(payloadOf);
    const accepted = payloads.filter(({ generation }) => generation !== null);
    const refused = payloads.filter(({ generation }) => generation === null);
    expect([accepted.length, refused.length]).toEqual([32, 32]);
    expect(new Set(accepted.map(({ generation }) => generation.id)).size).toBe(1);
    expect(new Set(refused.map(({ userErrors }) => userErrors[0].code))).toEqual(
      new Set(['IDEMPOTENCY_CONFLICT']),
    );
    expect(await outboxOf(api, input.idempotencyKey)).toMatchObject({ tasks: 1, ledger: 1 });
  });
});

describe('while the first request with the key has not finished', () => {
  const open = useOwnApi();

  it('a second one waits a bounded time, then is told to come back, and then gets its answer', async () => {
    const api = await open({ createWaitMs: 300 });
    const input = { ...REQUEST, idempotencyKey: randomUUID() };
    const first = await api.database.pool.connect();
    await first.query('BEGIN');
    const now = api.context.clock.now();
    await first.query(
      `INSERT INTO generation_tasks (id, tenant_id, client_idempotency_key, request_hash, status, version,
         requested_model, priority, price_micros, deadline_at, trace_id, created_at, updated_at)
       VALUES ($1, $2, $3, 'h', 'QUEUED', 4, 'm', 0, 1, $4, 't', $4, $4)`,
      [api.context.ids.next(now), api.tenantId, input.idempotencyKey, now],
    );
    const waiting = await api.ask(CREATE, { input });
    expect(waiting.status).toBe(409);
    expect(waiting.headers.get('retry-after')).toBe('1');
    expect(waiting.errors).toMatchObject([
      { extensions: { code: 'IDEMPOTENCY_IN_PROGRESS', retryable: true } },
    ]);
    await first.query('ROLLBACK');
    first.release();
    // What was being waited for goes on behind the answer.
    const again = await eventually('an answer', async () => {
      const answer = await api.ask(CREATE, { input });
      return answer.status === 202 ? payloadOf(answer) : null;
    });
    expect(again.generation.status).toBe('QUEUED');
    expect(await outboxOf(api, input.idempotencyKey)).toMatchObject({ tasks: 1, ledger: 1 });
  });
});

describe('who made a call', () => {
  it('is found by its key, in its own tenant only', async () => {
    const api = running();
    const idempotencyKey = randomUUID();
    const id = await api.create({ idempotencyKey });
    const query = 'query ($key: String!) { generationByIdempotencyKey(key: $key) { id } }';
    const find = async (token = api.token) =>
      (await api.ask(query, { key: idempotencyKey }, { token })).data.generationByIdempotencyKey;
    expect(await find()).toEqual({ id });
    expect(await find(await api.tokenOf(await api.addTenant()))).toBeNull();
  });
});
