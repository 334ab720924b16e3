import { randomUUID } from 'node:crypto';

import { CREATE, REQUEST, useOwnApi } from './support/running-api';

/** 200 of them take minutes on a small machine: IDEMPOTENCY_KEYS=200 asks for them. */
const KEYS = Number(process.env['IDEMPOTENCY_KEYS'] ?? 24);
const COPIES = 64;
/** So many keys are new at the same moment, each with all its copies. */
const KEYS_AT_ONCE = 8;

const openApi = useOwnApi();

test(`${KEYS} keys, each sent ${COPIES} times at once: one generation a key, and no 5xx`, async () => {
  const api = await openApi({ tenant: { credits: 1_000_000n, queuedMax: 100_000 } });
  const keys = Array.from({ length: KEYS }, () => randomUUID());
  const statuses = new Map<number, number>();
  const idsOf = new Map<string, Set<string>>();
  const send = async (idempotencyKey: string): Promise<void> => {
    const { status, data, errors } = await api.ask(CREATE, {
      input: { ...REQUEST, idempotencyKey },
    });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status === 409) {
      // The first of its key is still at work: the answer says so, and that asking again will do.
      expect(errors[0]?.extensions['code']).toBe('IDEMPOTENCY_IN_PROGRESS');
      return;
    }
    expect({ status, errors }).toEqual({ status: 202, errors: [] });
    const { generation, userErrors } = data.generationCreate;
    expect(userErrors).toEqual([]);
    idsOf.set(idempotencyKey, (idsOf.get(idempotencyKey) ?? new Set()).add(generation.id));
  };
  for (let first = 0; first < KEYS; first += KEYS_AT_ONCE) {
    const present = keys.slice(first, first + KEYS_AT_ONCE);
    await Promise.all(present.flatMap((key) => Array.from({ length: COPIES }, () => send(key))));
  }
  expect([...statuses.keys()].filter((status) => status >= 500)).toEqual([]);
  for (const key of keys) await send(key);
  expect([...idsOf.values()].map((ids) => ids.size)).toEqual(keys.map(() => 1));
  expect(new Set([...idsOf.values()].flatMap((ids) => [...ids])).size).toBe(KEYS);
  const counts = await Promise.all(
    ['generation_tasks', 'holds', 'generation_requests'].map((table) => api.count(table)),
  );
  expect(counts).toEqual([KEYS, KEYS, KEYS]);
}, 300_000);
