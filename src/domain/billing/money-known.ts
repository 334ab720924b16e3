import type { Attempt } from '../attempt/attempt';
import { holdsSlot } from '../attempt/statuses';
import type { Micros } from '../kernel/money';

export type MoneyState = 'NOTHING_RESERVED' | 'HELD' | 'CHARGED' | 'RETURNED' | 'UNKNOWN';

export interface MoneyKnown {
  readonly state: MoneyState;
  readonly held: Micros;
  readonly charged: Micros;
  readonly returned: Micros;
  /** Only of UNKNOWN: until when the provider's charge is waited for; null: until its job ends. */
  readonly unknownUntil: Date | null;
}

interface Entry {
  readonly availableDelta: Micros;
  readonly heldDelta: Micros;
}

type AttemptFacts = Pick<Attempt, 'status' | 'watchedUntil' | 'jobId' | 'sentAt'>;

/**
 * Whether a job of the attempt may still live, or turn up: what it costs is not known then. One that was given up for lost
 * is watched for a time.
 */
export const isOutcomeOpen = (attempt: AttemptFacts, now: Date): boolean =>
  attempt.status === 'ABANDONED'
    ? attempt.watchedUntil === null || attempt.watchedUntil > now
    : attempt.status !== 'NEW' && holdsSlot(attempt.status);

/**
 * What became of the credits of one generation, from its ledger entries and nothing else. Once it has ended, an attempt whose
 * outcome is open makes the state UNKNOWN; the amounts stay those of the ledger.
 */
export const moneyKnown = (
  entries: readonly Entry[],
  attempts: readonly AttemptFacts[],
  ended: boolean,
  now: Date,
): MoneyKnown => {
  const held = sum(entries.map(({ heldDelta }) => heldDelta));
  const spent = -sum(entries.map(({ availableDelta }) => availableDelta));
  const returned = sum(
    entries.map(({ availableDelta }) => (availableDelta > 0n ? availableDelta : 0n)),
  );
  const amounts = { held, charged: spent - held, returned };
  const open = ended ? attempts.filter((attempt) => isOutcomeOpen(attempt, now)) : [];
  if (open.length > 0) return { ...amounts, state: 'UNKNOWN', unknownUntil: untilOf(open) };
  const state = stateOf(entries.length, amounts);
  return { ...amounts, state, unknownUntil: null };
};

const stateOf = (
  entries: number,
  { held, charged }: { readonly held: Micros; readonly charged: Micros },
): MoneyState => {
  if (entries === 0) return 'NOTHING_RESERVED';
  if (held > 0n) return 'HELD';
  return charged > 0n ? 'CHARGED' : 'RETURNED';
};

const untilOf = (open: readonly AttemptFacts[]): Date | null => {
  const times = open.map(({ watchedUntil }) => watchedUntil);
  if (times.some((each) => each === null)) return null;
  return new Date(Math.max(...times.map((each) => each?.getTime() ?? 0)));
};

const sum = (amounts: readonly Micros[]): Micros =>
  amounts.reduce((total, each) => total + each, 0n);
