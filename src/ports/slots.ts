/** One of the four levels of admission: `platform`, `provider:<id>`, `account:<id>`, `tenant:<id>`. */
export interface SlotScope {
  readonly scope: string;
  readonly limitMax: number;
}

/**
 * Concurrency slots. Soft: Postgres' attempts are the facts, and slots are rebuilt from them at any time.
 *
 * Contract, checked by test/contract/slots:
 * - `acquire` takes all scopes or none, atomically; in use never exceeds a limit. A second acquire by the same holder
 *   answers its present token and makes its lease last. The token rises with every lease, also after a flush of the
 *   adapter's store: a fencing token.
 * - `renew` and `release` do nothing (false) unless the token is the holder's present one.
 * - An expired lease still counts until `rebuild` takes it away: unknown attempts keep their slot.
 * - `rebuild` adds leases that given holders lack, makes those they have last, removes expired leases of anybody else,
 *   and counts anew. A lease that has not expired stays: its holder may be about to commit the attempt that proves it.
 *   Facts go before limits: in use may exceed a limit after it. It tells what it found over a limit when it began.
 * - A lease expires by the `now` of whoever rebuilds, as it was made by the `now` of who acquired: processes whose clocks
 *   differ by less than the lease do no harm, since an attempt that is committed keeps its slot whatever the time.
 * - Where the store is out of reach or may have lost leases, `acquire` throws a SlotsUnavailableError: it rather grants
 *   nothing than too much. `usage` then counts the attempts.
 */
export interface Slots {
  acquire(
    holder: string,
    scopes: readonly SlotScope[],
    ttlMs: number,
    now: Date,
  ): Promise<
    | { readonly kind: 'ACQUIRED'; readonly token: bigint }
    | { readonly kind: 'FULL'; readonly scope: string }
  >;
  renew(holder: string, token: bigint, ttlMs: number, now: Date): Promise<boolean>;
  release(holder: string, token: bigint, now: Date): Promise<boolean>;
  usage(scopes: readonly string[]): Promise<Readonly<Record<string, number>>>;
  rebuild(holders: readonly SlotHolder[], ttlMs: number, now: Date): Promise<Rebuilt>;
}

/** An attempt that may have a living job at the provider. */
export interface SlotHolder {
  readonly holder: string;
  readonly scopes: readonly SlotScope[];
  /** Of the lease that it began with; tokens rise above it. */
  readonly token: bigint | null;
}

/** Slots cannot be counted at present. Nothing was granted, or nobody will use what was. */
export class SlotsUnavailableError extends Error {
  readonly code = 'SLOTS_UNAVAILABLE';
}

/** What a rebuild found that was not as it should be, and mended. */
export interface Rebuilt {
  /** Leases that leaked: expired or of what had ended, and claimed by nobody. */
  readonly removed: number;
  /** Leases that given holders lacked. */
  readonly added: number;
  /** Scopes that had given out more than their limit, or counted more than their leases; some, if there are many. */
  readonly overGranted: readonly {
    readonly scope: string;
    readonly counted: number;
    readonly leases: number;
    readonly limitMax: number;
  }[];
}
