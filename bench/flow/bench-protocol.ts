/** What a contender's process is told at its start, as JSON in its first argument. */
export interface ContenderSetup {
  readonly databaseUrl: string;
  readonly dataDir: string;
  /** Lanes of the floor, and jobs that graphile-worker runs at once. */
  readonly concurrency: number;
}

/** One stretch of load. `ratePerSecond` null: all at once. */
export interface Load {
  readonly tasks: number;
  readonly ratePerSecond: number | null;
}

/** Create → terminal of each task, milliseconds, and the whole from the first create to the last end. */
export interface LoadResult {
  readonly latenciesMs: readonly number[];
  readonly wallMs: number;
}

export type Question =
  | { readonly ask: 'cpu' }
  | { readonly ask: 'load'; readonly load: Load }
  | { readonly ask: 'stop' };

export type Answer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'cpu'; readonly cpuMs: number }
  | { readonly kind: 'load'; readonly result: LoadResult }
  | { readonly kind: 'failed'; readonly error: string };
