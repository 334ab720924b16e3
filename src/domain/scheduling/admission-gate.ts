export type Tier = 'FREE' | 'STANDARD' | 'PREMIUM';

/** How many times the threshold a tier is still let in: who pays most is turned away last. */
const PATIENCE: Readonly<Record<Tier, number>> = { FREE: 1, STANDARD: 2, PREMIUM: 4 };

export const TIERS = Object.keys(PATIENCE) as Tier[];

/**
 * Whether a new generation of this tier may be accepted while messages do not leave the outbox. What was accepted waits and nothing is
 * lost; but accepting more than can be moved only makes everybody's wait longer.
 */
export const isAdmitted = (tier: Tier, outboxAgeMs: number, refuseMs: number): boolean =>
  outboxAgeMs < refuseMs * PATIENCE[tier];
