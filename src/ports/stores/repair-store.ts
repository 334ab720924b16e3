import type { Attempt } from '../../domain/attempt/attempt';
import type { FindingKind } from '../../domain/generation/decision';
import type { Asset } from '../../domain/output/asset';

/** A provider event that no attempt claimed in time. */
export interface ExpiredOrphan {
  readonly id: string;
  readonly providerId: string;
  readonly source: string;
  readonly status: string;
  readonly receivedAt: Date;
  readonly duplicates: number;
}

/** What the reconciler looks for: each list is bounded, and reads what is to be done and never what is over. */
export interface RepairStore {
  /** Gives up at most `limit` orphans whose time is over, and answers them. */
  expireOrphans(now: Date, limit: number): Promise<ExpiredOrphan[]>;
  /** Tenants whose account holds another amount than their open holds together. */
  listHeldMismatches(limit: number): Promise<
    {
      readonly tenantId: string;
      readonly heldMicros: bigint;
      readonly openMicros: bigint;
    }[]
  >;
  /** Attempts whose cost is known since `before` and stands in no book. */
  listUnbookedCosts(before: Date, limit: number): Promise<Attempt[]>;
  /** Generations whose output a person should have helped to fetch since `before`, and that is served no longer. */
  listRetentionOver(before: Date, now: Date, limit: number): Promise<string[]>;
  /** Raw outputs of successes that lack a derivative and whose next try was due before `before`. */
  listRawToDeriveAgain(before: Date, limit: number): Promise<Asset[]>;
  /** Those of the keys that no row names, and no generation that lives or has ended since may be about to name. */
  listObjectsWithoutOwner(keys: readonly string[], endedSince: Date): Promise<string[]>;
  /** Ends findings of these kinds that no pass has seen since. */
  resolveNotSeen(kinds: readonly FindingKind[], since: Date, now: Date): Promise<void>;
  /** Ends findings of generations that stood still and have moved. */
  resolveMoved(now: Date): Promise<void>;
}
