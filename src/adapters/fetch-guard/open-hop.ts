import { request as requestOver, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import { buildConnector } from 'undici';
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

export interface HopAnswer {
  readonly statusCode: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: IncomingMessage;
}

export interface Hop {
  readonly answer: HopAnswer;
  /** Ends the connection, whatever is still under way on it. */
  readonly close: () => void;
}

/**
 * Sends one request over a connection of its own to the judged address; the name serves only for
 * the Host header and the certificate. No lookup happens here and no redirect is followed.
 *
 * The request goes over Node's own client: undici 7 ends the process when a server closes the
 * connection behind a body that is not read as fast as it comes (nodejs/undici#5360).
 */
export async function openHop(
  target: Target,
  request: HopRequest,
  limits: HopLimits,
  connect: Connector = buildConnector({ timeout: limits.connectTimeoutMs, allowH2: false }),
): Promise<Hop> {
  request.signal.throwIfAborted();
  const socket = await dial(target, request.signal, connect);
  const close = (): void => void socket.destroy();
  socket.setTimeout(limits.idleTimeoutMs, () => socket.destroy(new HopIdleError('nothing came')));
  try {
    return { answer: await exchange(socket, target, request), close };
  } catch (error) {
    close();
    throw error;
  }
}

/** No byte came, and none could be sent, for too long. */
export class HopIdleError extends Error {
  readonly code = 'HOP_IDLE';
}

async function dial(target: Target, signal: AbortSignal, connect: Connector): Promise<Socket> {
  const { url } = target;
  return new Promise((resolve, reject) => {
    let abandoned = false;
    const stop = (): void => {
      abandoned = true;
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', stop, { once: true });
    connect(
      {
        hostname: target.address,
        host: url.host,
        protocol: url.protocol,
        port: url.port,
        servername: serverNameOf(url),
      },
      (error, socket) => {
        signal.removeEventListener('abort', stop);
        if (error !== null) reject(error);
        // The connector cannot be stopped; what it brings too late is closed.
        else if (abandoned) socket.destroy();
        else resolve(socket);
      },
    );
  });
}

async function exchange(socket: Socket, target: Target, request: HopRequest): Promise<HopAnswer> {
  return new Promise((resolve, reject) => {
    const sent = requestOver({
      createConnection: () => socket,
      method: request.method,
      path: `${target.url.pathname}${target.url.search}`,
      headers: { host: target.url.host, ...request.headers },
      signal: request.signal,
    });
    sent.once('error', reject);
    sent.once('close', () => reject(new Error('the connection was closed before an answer')));
    sent.once('response', (body) => {
      // Without a listener, a cut before the first read would end the process. Reading reports it.
      body.on('error', () => undefined);
      // After the head an error is the body's to tell.
      sent.on('error', () => undefined);
      resolve({ statusCode: body.statusCode ?? 0, headers: body.headers, body });
    });
    sent.end(request.body);
  });
}

/** TLS names hosts, never addresses; an empty name sends none. */
function serverNameOf(url: URL): string {
  return /^\[|^[\d.]+$/.test(url.hostname) ? '' : url.hostname;
}
