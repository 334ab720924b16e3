import { buildConnector, Client, type Dispatcher } from 'undici';
import type { Target } from './judge-target';

export type Connector = buildConnector.connector;

export interface HopLimits {
  readonly connectTimeoutMs: number;
  /** Between two bytes, and until the head of the answer. */
  readonly idleTimeoutMs: number;
}

export interface HopRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly signal: AbortSignal;
}

export interface Hop {
  readonly answer: Dispatcher.ResponseData;
  /** Ends the connection, whatever is still under way on it. */
  readonly close: () => void;
}

/**
 * Sends one request over a connection of its own to the judged address; the name serves only for
 * the Host header and the certificate. No lookup happens here and no redirect is followed.
 */
export async function openHop(
  target: Target,
  request: HopRequest,
  limits: HopLimits,
  connect: Connector = buildConnector({ timeout: limits.connectTimeoutMs, allowH2: false }),
): Promise<Hop> {
  const client = new Client(target.url.origin, {
    pipelining: 0,
    headersTimeout: limits.idleTimeoutMs,
    bodyTimeout: limits.idleTimeoutMs,
    connect: (options, callback) => {
      const servername = options.servername ?? serverNameOf(target.url);
      connect({ ...options, hostname: target.address, servername }, callback);
    },
  });
  // The promise of destroy() tells only that the socket is closed; nobody waits for that.
  const close = (): void => void client.destroy();
  try {
    const answer = await client.request({
      path: `${target.url.pathname}${target.url.search}`,
      method: request.method,
      headers: request.headers,
      signal: request.signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    });
    // Without a listener, a cut before the first read would end the process. Reading reports it.
    answer.body.on('error', () => undefined);
    return { answer, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** TLS names hosts, never addresses; an empty name sends none. */
function serverNameOf(url: URL): string {
  return /^\[|^[\d.]+$/.test(url.hostname) ? '' : url.hostname;
}
