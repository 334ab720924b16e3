export interface SpanStart {
  /** Few different ones: a method and what it is asked of, a group and a type of message; never an id. */
  readonly name: string;
  readonly kind: 'SERVER' | 'CONSUMER' | 'CLIENT';
  /**
   * The trace it belongs to, a UUID: that of the request which began it all. A SERVER span begins it, any other hangs below that one.
   * Without it the span belongs to the one around it, and is not recorded where there is none.
   */
  readonly traceId?: string;
  /** Ids and words of the product; never a prompt, a URL or a secret. */
  readonly attributes?: Readonly<Record<string, string | number>>;
}

/** Tells a collector what was done for a request, in which process and for how long. Never fails the work that it tells of. */
export interface Tracing {
  span<T>(start: SpanStart, work: () => Promise<T>): Promise<T>;
  /** Sends what is not sent yet, within a few seconds. */
  close(): Promise<void>;
}

export const NO_TRACING: Tracing = {
  span: (_start, work) => work(),
  close: () => Promise.resolve(),
};
