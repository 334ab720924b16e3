import { uuidv7 } from 'uuidv7';

import type { Slots, SlotScope } from '../../../src/ports/slots';

export interface SlotsHarness {
  readonly slots: Slots;
  /** Another process. */
  open(): Promise<Slots>;
  /** Everything the adapter keeps is gone, as after a flush of its store. */
  flush(): Promise<void>;
}

export const NOW = new Date('2026-12-01T08:00:00.000Z');
export const TTL_MS = 60_000;
export const after = (ms: number): Date => new Date(NOW.getTime() + ms);

export const newHolder = (): string => uuidv7();

/** The four levels of one provider account and tenant, with names that no other test uses. */
export const makeScopes = (limitMax: number): SlotScope[] => {
  const mark = uuidv7();
  return ['platform', 'provider', 'account', 'tenant'].map((level) => ({
    scope: `${level}:${mark}`,
    limitMax,
  }));
};

export const namesOf = (scopes: readonly SlotScope[]): string[] => scopes.map(({ scope }) => scope);

/** Acquires and answers the token; fails when a scope is full. */
export const acquireToken = async (
  slots: Slots,
  holder: string,
  scopes: readonly SlotScope[],
  now = NOW,
): Promise<bigint> => {
  const answer = await slots.acquire(holder, scopes, TTL_MS, now);
  if (answer.kind !== 'ACQUIRED') throw new Error(`${answer.scope} is full`);
  return answer.token;
};
