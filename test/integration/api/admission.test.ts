import { randomUUID } from 'node:crypto';

import { eventually } from '../../support/eventually';
import { CREATE, REQUEST, useOwnApi, type Answer, type RunningApi } from './support/running-api';

const REFUSE_MS = 60_000;
const open = useOwnApi();

/** As if the relay had stood still for this long. */
const ageOutbox = (api: RunningApi, ageMs: number) =>
  api.database.pool.query(
    `UPDATE outbox_events SET available_at = $1, status = 'PENDING', published_at = NULL`,
    [new Date(Date.now() - ageMs)],
  );

const emptyOutbox = (api: RunningApi) =>
  api.database.pool.query(`UPDATE outbox_events SET status = 'PUBLISHED', published_at = now()`);

const create = (api: RunningApi, token: string, idempotencyKey: string = randomUUID()) =>
  api.ask(CREATE, { input: { ...REQUEST, idempotencyKey } }, { token });

const codeOf = ({ errors }: Answer): unknown => errors?.[0]?.extensions['code'];

/** The gate remembers its look for a second. */
const untilRefused = (api: RunningApi, token: string): Promise<Answer> =>
  eventually('a refusal', async () => {
    const answer = await create(api, token);
    return codeOf(answer) === 'OVERLOADED' ? answer : null;
  });

describe('when the outbox is older than its threshold', () => {
  it('new generations are refused, lower tiers first, nothing is written, and it ends by itself', async () => {
    const api = await open({ refuseMs: REFUSE_MS, tenant: { tier: 'FREE' } });
    const premium = await api.tokenOf(await api.addTenant({ tier: 'PREMIUM' }));
    const kept = randomUUID();
    expect((await create(api, api.token, kept)).status).toBe(202);
    const written = () =>
      Promise.all(
        ['generation_tasks', 'holds', 'credit_ledger', 'outbox_events'].map((table) =>
          api.count(table),
        ),
      );
    await ageOutbox(api, REFUSE_MS + 5_000);
    const answer = await untilRefused(api, api.token);
    const before = await written();
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('10');
    expect(answer.errors?.[0]?.extensions).toMatchObject({
      code: 'OVERLOADED',
      retryable: true,
      retryAfterMs: 10_000,
    });
    expect(codeOf(await create(api, api.token))).toBe('OVERLOADED');
    expect(await written()).toEqual(before);

    // The original of an earlier key is still told.
    expect((await create(api, api.token, kept)).headers.get('idempotent-replayed')).toBe('true');
    // Who pays most is turned away last.
    expect((await create(api, premium)).status).toBe(202);
    await ageOutbox(api, REFUSE_MS * 4 + 5_000);
    await untilRefused(api, premium);

    await emptyOutbox(api);
    await eventually('an open gate', async () =>
      (await create(api, api.token)).status === 202 ? true : null,
    );
  });

  it('by messages of a newer version alone nobody is refused', async () => {
    const api = await open({ refuseMs: REFUSE_MS, tenant: { tier: 'FREE' } });
    // What a rollback leaves; the gate has not looked yet.
    await api.database.pool.query(
      `INSERT INTO outbox_events (id, aggregate_type, aggregate_id, aggregate_version, type, schema_version, trace_id, payload,
         status, available_at, occurred_at)
       VALUES ($1, 'generation', $1, 1, 'from.tomorrow', 1, 'trace-1', '{}', 'PENDING', $2, $2)`,
      [randomUUID(), new Date(Date.now() - REFUSE_MS * 10)],
    );
    expect((await create(api, api.token)).status).toBe(202);
  });
});
