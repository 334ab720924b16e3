import type { Facts, Invariant, Violation } from './facts';
import { MONEY_INVARIANTS } from './money-invariants';
import { STATE_INVARIANTS } from './state-invariants';

/**
 * What must hold of the stored facts after every transaction. Pure: the reconciler asks it of the
 * database, crash tests of what a killed process left, the model of a simulated world.
 */
export const INVARIANTS: readonly Invariant[] = [...MONEY_INVARIANTS, ...STATE_INVARIANTS];

/** All violations, in the order of the list; empty when the facts are sound. */
export const findViolations = (facts: Facts): Violation[] =>
  INVARIANTS.flatMap((each) => each.find(facts));
