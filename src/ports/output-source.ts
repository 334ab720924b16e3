import type { Readable } from 'node:stream';

/** Why a URL, or what it leads to, is not fetched. A repeat cannot help. */
export type FetchRefusal =
  | 'URL_INVALID'
  | 'SCHEME_NOT_ALLOWED'
  | 'CREDENTIALS_IN_URL'
  | 'HOST_NOT_ALLOWED'
  | 'ADDRESS_NOT_ALLOWED'
  | 'TOO_MANY_REDIRECTS'
  | 'TOO_LARGE'
  | 'ENCODED_CONTENT';

export type OutputOpening =
  | {
      readonly kind: 'OK';
      readonly status: 200 | 206;
      /** Of the whole output, also when the body is a part of it; null where the server is silent. */
      readonly sizeBytes: number | null;
      /** As sent, quotes included; to be handed back as `ifRangeEtag`. */
      readonly etag: string | null;
      /** Where the body begins. 0 although a range was asked: start over, drop what was kept. */
      readonly rangeStart: number;
      /** The server says that it answers ranges. */
      readonly acceptsRanges: boolean;
      readonly body: Readable;
    }
  | { readonly kind: 'REFUSED'; readonly reason: FetchRefusal; readonly detail: string }
  /** The server says no for good (403, 404, 410 or a like 4xx); ask the provider for a fresh URL. */
  | { readonly kind: 'GONE'; readonly status: number }
  /** Out of reach now: 408, 425, 429, 5xx, no name, no connection, no answer in time. */
  | { readonly kind: 'UNAVAILABLE'; readonly retryAfterMs: number | null; readonly detail: string };

/**
 * Reads finished outputs, and image inputs, from URLs that others chose.
 *
 * Contract, checked by test/integration/fetch-guard:
 * - Only `https`. Plain `http`, and loopback or private addresses, only for the exact `host:port`
 *   pairs that the adapter was set up with (the sandbox beside the product).
 * - The host must be in `allowedHosts`: `cdn.example.com`, `*.example.com` (below it, not itself),
 *   with `:port` for a port other than that of the scheme; `any` drops this test only.
 * - Every address of the host must be public, whatever form it is written in; the address that was
 *   judged is the one connected to. A redirect is judged like a first URL; three are followed.
 *   A refused target does not get one byte, not even a connection.
 * - `sizeBytesMax` bounds the whole output, stated or not. No answer and no byte is waited for
 *   beyond the adapter's limits on idle time and on total time.
 * - The body fails with `OutputInterruptedError` when the transfer ends before its stated length
 *   (open again with `rangeStart` and `ifRangeEtag`) and with `OutputTooLargeError` beyond the
 *   bound. It never ends well when bytes are missing. Destroying it closes the connection.
 * - A range is asked only from `rangeStart` above 0, to the end of the output or to `rangeEnd`, inclusive. A server that ignores it, or whose ETag has
 *   changed, gives the whole output (`rangeStart: 0`): two versions are never joined.
 * - URLs are bearer secrets: details and errors name the host only.
 * - `open` rejects only when `signal` aborts, with its reason.
 */
export interface OutputSource {
  open(
    url: string,
    options: {
      readonly allowedHosts: readonly string[] | 'any';
      readonly sizeBytesMax: number;
      readonly rangeStart?: number;
      readonly rangeEnd?: number;
      readonly ifRangeEtag?: string;
      readonly signal?: AbortSignal;
    },
  ): Promise<OutputOpening>;
}

/** The transfer was cut; what has arrived is good and can be continued. */
export class OutputInterruptedError extends Error {
  readonly code = 'OUTPUT_INTERRUPTED';
}

export class OutputTooLargeError extends Error {
  readonly code = 'OUTPUT_TOO_LARGE';
}
