/** What happened in a span of time, as the facts tell it. A figure is null while nothing has happened to read it from. */
export interface MeasuredLoad {
  /** Generations that were created. */
  readonly created: number;
  /** How long submits that ended kept their slot, on average, in seconds. */
  readonly heldS: number | null;
  readonly successShare: number | null;
  readonly outputSizeBytes: number | null;
  readonly mediaS: number | null;
  readonly transitions: number;
  /** Waiting now. */
  readonly waiting: number;
  /** Of all active provider accounts. */
  readonly slots: number;
  /** Who created most; `share` is how many. */
  readonly tenants: readonly {
    readonly name: string;
    readonly share: number;
    readonly inFlightMax: number;
  }[];
}
