import {
  asyncProperty,
  assert,
  array,
  constantFrom,
  integer,
  oneof,
  record,
  constant,
} from 'fast-check';

import type { Slots, SlotScope } from '../../../src/ports/slots';
import { after, makeScopes, namesOf, newHolder, TTL_MS } from './slots-harness';
import type { SlotsHarness } from './slots-harness';

const HOLDERS = 6;
const RUNS = 30;

const place = integer({ min: 0, max: HOLDERS - 1 });
const step = oneof(
  record({
    kind: constant('acquire' as const),
    holder: place,
    scopes: integer({ min: 1, max: 4 }),
    limitMax: integer({ min: 0, max: 4 }),
  }),
  record({
    kind: constant('release' as const),
    holder: place,
    token: constantFrom('present', 'stale'),
  }),
  record({
    kind: constant('renew' as const),
    holder: place,
    token: constantFrom('present', 'stale'),
  }),
  record({ kind: constant('rebuild' as const), kept: array(place, { maxLength: HOLDERS }) }),
);

interface ModelLease {
  readonly token: bigint;
  readonly scopes: readonly SlotScope[];
}

/** What the slots should hold, kept beside them. */
interface Model {
  readonly holders: readonly string[];
  readonly scopes: readonly SlotScope[];
  readonly leases: Map<string, ModelLease>;
  readonly staleTokens: Map<string, bigint>;
  /** Grows with every step, so that tokens and expiries of the past stay in the past. */
  nowMs: number;
}

const inUse = (model: Model, scope: string): number =>
  [...model.leases.values()].filter(({ scopes }) => namesOf(scopes).includes(scope)).length;

const usageOf = (model: Model): Record<string, number> =>
  Object.fromEntries(namesOf(model.scopes).map((scope) => [scope, inUse(model, scope)]));

const tokenOf = (model: Model, holder: string, which: string): bigint =>
  (which === 'present' ? model.leases.get(holder)?.token : model.staleTokens.get(holder)) ?? 0n;

const acquire = async (
  slots: Slots,
  model: Model,
  holder: string,
  wanted: readonly SlotScope[],
): Promise<void> => {
  const present = model.leases.get(holder);
  const full = wanted.find(({ scope, limitMax }) => inUse(model, scope) >= limitMax);
  const answer = await slots.acquire(holder, wanted, TTL_MS, after(model.nowMs));
  if (present !== undefined) {
    expect(answer).toEqual({ kind: 'ACQUIRED', token: present.token });
  } else if (full !== undefined) {
    expect(answer).toEqual({ kind: 'FULL', scope: full.scope });
  } else {
    expect(answer.kind).toBe('ACQUIRED');
    if (answer.kind === 'FULL') return;
    expect(answer.token).toBeGreaterThan(model.staleTokens.get(holder) ?? 0n);
    model.leases.set(holder, { token: answer.token, scopes: wanted });
    for (const { scope, limitMax } of wanted) {
      expect(inUse(model, scope)).toBeLessThanOrEqual(limitMax);
    }
  }
};

const endLease = (model: Model, holder: string): void => {
  const lease = model.leases.get(holder);
  if (lease === undefined) return;
  model.staleTokens.set(holder, lease.token);
  model.leases.delete(holder);
};

/** Every lease has expired by then, so what is not among `kept` goes. */
const rebuild = async (slots: Slots, model: Model, kept: readonly string[]): Promise<void> => {
  model.nowMs += TTL_MS + 1;
  const facts = kept.map((holder) => ({
    holder,
    scopes: model.leases.get(holder)?.scopes ?? model.scopes,
    token: null,
  }));
  const gone = [...model.leases.keys()].filter((holder) => !kept.includes(holder));
  const fresh = kept.filter((holder) => !model.leases.has(holder));
  expect(await slots.rebuild(facts, TTL_MS, after(model.nowMs))).toMatchObject({
    removed: gone.length,
    added: fresh.length,
  });
  for (const holder of gone) endLease(model, holder);
  for (const holder of fresh) {
    const answer = await slots.acquire(holder, model.scopes, TTL_MS, after(model.nowMs));
    if (answer.kind !== 'ACQUIRED') throw new Error('A rebuilt lease answers its token.');
    model.leases.set(holder, { token: answer.token, scopes: model.scopes });
  }
};

type ModelStep =
  | { kind: 'acquire'; holder: number; scopes: number; limitMax: number }
  | { kind: 'release' | 'renew'; holder: number; token: string }
  | { kind: 'rebuild'; kept: number[] };

const applyStep = async (slots: Slots, each: ModelStep, model: Model): Promise<void> => {
  model.nowMs += 1;
  if (each.kind === 'rebuild') {
    const kept = [...new Set(each.kept)].map((index) => model.holders[index]!);
    return rebuild(slots, model, kept);
  }
  const holder = model.holders[each.holder]!;
  if (each.kind === 'acquire') {
    const wanted = model.scopes.slice(0, each.scopes);
    const { limitMax } = each;
    return acquire(
      slots,
      model,
      holder,
      wanted.map(({ scope }) => ({ scope, limitMax })),
    );
  }
  const token = tokenOf(model, holder, each.token);
  const isPresent = model.leases.get(holder)?.token === token;
  const now = after(model.nowMs);
  if (each.kind === 'renew') {
    expect(await slots.renew(holder, token, TTL_MS, now)).toBe(isPresent);
    return;
  }
  expect(await slots.release(holder, token, now)).toBe(isPresent);
  if (isPresent) endLease(model, holder);
};

export const describeSlotModel = (harness: () => SlotsHarness): void => {
  it('agree with a model after any sequence of acquire, renew, release and rebuild', async () => {
    const { slots, flush } = harness();
    await assert(
      asyncProperty(array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        await flush();
        const model: Model = {
          holders: Array.from({ length: HOLDERS }, newHolder),
          scopes: makeScopes(9),
          leases: new Map(),
          staleTokens: new Map(),
          nowMs: 0,
        };
        for (const each of steps) {
          await applyStep(slots, each, model);
          expect(await slots.usage(namesOf(model.scopes))).toEqual(usageOf(model));
        }
      }),
      { numRuns: RUNS },
    );
  }, 60_000);
};
