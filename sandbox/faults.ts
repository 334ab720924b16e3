/** Every fault that can be asked for; `reject_<status>` stands for any status from 400 to 599. */
export const FAULTS = [
  'answer_lost',
  'answer_cut',
  'answer_502',
  'answer_504',
  'answer_no_id',
  'reject_422_charged',
  'not_created_lost',
  'slow',
  'slow_create',
  'callback_twice',
  'callback_out_of_order',
  'callback_never',
  'callback_only_final',
  'callback_before_answer',
  'filtered',
  'failed',
  'failed_charged',
  'failed_late',
  'hang',
  'url_expired',
  'download_cut',
  'download_cut_always',
  'unknown_status',
  'poll_404',
  'poll_500',
  'cancel_refused',
  'cancel_slow',
  'cancel_completes',
  'cancel_charged',
  'overcharge',
] as const;

export type Fault = (typeof FAULTS)[number];

const REJECT = /^reject_([45]\d\d)$/;

export class UnknownFaultError extends Error {}

/** The faults of one job with their parameters, as they were given in its `options`. */
export class FaultPlan {
  private constructor(
    readonly names: readonly string[],
    readonly params: Readonly<Record<string, unknown>>,
  ) {}

  static none(): FaultPlan {
    return new FaultPlan([], {});
  }

  /**
   * Reads `{fault: 'name' | ['name', …], …params}`. Throws UnknownFaultError for a name that does not
   * exist: a test whose fault is misspelt must not pass by accident.
   */
  static fromOptions(options: Readonly<Record<string, unknown>>): FaultPlan {
    const { fault, ...params } = options;
    if (fault === undefined || fault === null) return new FaultPlan([], params);
    const names = (Array.isArray(fault) ? fault : [fault]) as unknown[];
    for (const name of names) {
      if (typeof name !== 'string' || !isFaultName(name)) {
        throw new UnknownFaultError(`unknown fault ${JSON.stringify(name)}`);
      }
    }
    return new FaultPlan(names as string[], params);
  }

  has(name: Fault): boolean {
    return this.names.includes(name);
  }

  /** The status of `reject_<status>`, or null. */
  get rejectStatus(): number | null {
    for (const name of this.names) {
      const match = REJECT.exec(name);
      if (match) return Number(match[1]);
    }
    return this.has('reject_422_charged') ? 422 : null;
  }

  /** A whole, non-negative parameter such as `slow_ms` or `times`. */
  number(name: string, fallback: number): number {
    const value = this.params[name];
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
      ? value
      : fallback;
  }

  text(name: string, fallback: string): string {
    const value = this.params[name];
    return typeof value === 'string' ? value : fallback;
  }
}

function isFaultName(name: string): boolean {
  return (FAULTS as readonly string[]).includes(name) || REJECT.test(name);
}

/** Faults that the administrator queued for the next creates that ask for none themselves. */
export class FaultQueue {
  private readonly queued: FaultPlan[] = [];

  /** Each entry is a fault name, a list of names that act together, or `{fault, …params}`. */
  push(entries: readonly unknown[]): void {
    const plans = entries.map((entry) =>
      typeof entry === 'object' && entry !== null && !Array.isArray(entry)
        ? FaultPlan.fromOptions(entry as Record<string, unknown>)
        : FaultPlan.fromOptions({ fault: entry }),
    );
    this.queued.push(...plans);
  }

  planFor(options: Readonly<Record<string, unknown>>): FaultPlan {
    const own = FaultPlan.fromOptions(options);
    return own.names.length > 0 ? own : (this.queued.shift() ?? own);
  }

  get size(): number {
    return this.queued.length;
  }
}
