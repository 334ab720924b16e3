import type { Dispatcher } from 'undici';

export interface ExchangeRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface ExchangeLimits {
  /** From the start of writing the request to the end of the response headers. */
  readonly headersTimeoutMs: number;
  /** The whole, connecting included. */
  readonly totalTimeoutMs: number;
}

/** How an exchange ended, by the phase the transport had reached and never by an error's words. */
export type Exchange =
  | {
      readonly kind: 'ANSWERED';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Buffer;
    }
  /** No byte of the request was written. */
  | { readonly kind: 'NOT_SENT'; readonly code: string }
  | { readonly kind: 'NO_ANSWER'; readonly isTimeout: boolean; readonly code: string }
  | { readonly kind: 'BODY_CUT'; readonly status: number; readonly code: string };

const BODY_BYTES_MAX = 4 * 1024 * 1024;

/** The connection may have carried the request or not; until it has, the phase is NOT_SENT. */
type Phase =
  | { readonly name: 'BEFORE_WRITE' }
  | { readonly name: 'WRITTEN' }
  | { readonly name: 'BODY'; readonly status: number };

/**
 * Sends one request through `dispatcher` and reads the whole answer. Never rejects. The request is
 * written at most once: where undici would write it again on a new connection it is stopped instead.
 */
export function performExchange(
  dispatcher: Dispatcher,
  origin: string,
  request: ExchangeRequest,
  limits: ExchangeLimits,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const handler = new ExchangeHandler(limits, resolve);
    try {
      dispatcher.dispatch(
        {
          ...{ origin, path: request.path, method: request.method, headers: request.headers },
          body: request.body,
          idempotent: false,
          // Our own timers say which phase was cut; undici's are coarser.
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        handler,
      );
    } catch (error) {
      handler.onResponseError(null, error as Error);
    }
  });
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  private phase: Phase = { name: 'BEFORE_WRITE' };
  private controller: Dispatcher.DispatchController | null = null;
  private headers: Record<string, string> = {};
  private readonly chunks: Buffer[] = [];
  private sizeBytes = 0;
  private isSettled = false;
  private headersTimer: NodeJS.Timeout | null = null;
  private readonly totalTimer: NodeJS.Timeout;

  constructor(
    private readonly limits: ExchangeLimits,
    private readonly resolve: (exchange: Exchange) => void,
  ) {
    this.totalTimer = setTimeout(() => this.giveUp('TOTAL_TIMEOUT', true), limits.totalTimeoutMs);
  }

  /** Called right before the first byte is written. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.isSettled || this.phase.name !== 'BEFORE_WRITE') {
      controller.abort(new Error('this request is not written, or not written again'));
      return;
    }
    this.controller = controller;
    this.phase = { name: 'WRITTEN' };
    this.headersTimer = setTimeout(
      () => this.giveUp('HEADERS_TIMEOUT', true),
      this.limits.headersTimeoutMs,
    );
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    if (this.headersTimer) clearTimeout(this.headersTimer);
    this.phase = { name: 'BODY', status };
    this.headers = flattenHeaders(headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.sizeBytes += chunk.length;
    if (this.sizeBytes > BODY_BYTES_MAX) this.giveUp('BODY_TOO_LARGE', false);
    else this.chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.phase.name !== 'BODY') return;
    const { status } = this.phase;
    const body = Buffer.concat(this.chunks);
    this.settle({ kind: 'ANSWERED', status, headers: this.headers, body });
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.settleFailure((error as { code?: string }).code ?? error.name, false);
  }

  private giveUp(code: string, isTimeout: boolean): void {
    this.settleFailure(code, isTimeout);
    this.controller?.abort(new Error(code));
  }

  private settleFailure(code: string, isTimeout: boolean): void {
    switch (this.phase.name) {
      case 'BEFORE_WRITE':
        this.settle({ kind: 'NOT_SENT', code });
        return;
      case 'WRITTEN':
        this.settle({ kind: 'NO_ANSWER', isTimeout, code });
        return;
      case 'BODY':
        this.settle({ kind: 'BODY_CUT', status: this.phase.status, code });
    }
  }

  private settle(exchange: Exchange): void {
    if (this.isSettled) return;
    this.isSettled = true;
    clearTimeout(this.totalTimer);
    if (this.headersTimer) clearTimeout(this.headersTimer);
    this.resolve(exchange);
  }
}

function flattenHeaders(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), [value].flat().join(', ')]],
    ),
  );
}
