/** What a fetcher's process is told: to bring what the URL serves to the key of its store, and to take it away again. */
export interface FetchOrder {
  readonly ask: 'fetch';
  readonly url: string;
  readonly key: string;
}

export interface Fetched {
  readonly sha256: string;
  readonly ms: number;
  /** The most memory of the process at once, less what it had before its first fetch. */
  readonly grownBytes: number;
}

export type Reply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'origin'; readonly baseUrl: string; readonly sha256: string }
  | { readonly kind: 'fetched'; readonly fetched: Fetched }
  | { readonly kind: 'failed'; readonly error: string };

/** Where the bare fetcher puts what it fetched, as JSON in its first argument. */
export type BareStore =
  | { readonly kind: 'disk'; readonly folder: string }
  | {
      readonly kind: 's3';
      readonly url: string;
      readonly region: string;
      readonly bucket: string;
      readonly accessKeyId: string;
      readonly secretAccessKey: string;
    };
