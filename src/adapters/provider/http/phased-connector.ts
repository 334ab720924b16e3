import { connect as connectTcp, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';

export interface ConnectLimits {
  /** Name resolution and the TCP handshake together. */
  readonly connectTimeoutMs: number;
  /** The TLS handshake alone. */
  readonly tlsTimeoutMs: number;
}

/** `code` is one of CONNECT_TIMEOUT and TLS_TIMEOUT. */
export class ConnectLimitError extends Error {
  constructor(readonly code: 'CONNECT_TIMEOUT' | 'TLS_TIMEOUT') {
    super(code);
  }
}

/**
 * A connector for undici that limits connecting and TLS apart from each other: undici's own has one
 * limit for both, and a server that accepts and then says nothing looks like one that is far away.
 */
export function buildPhasedConnector(limits: ConnectLimits): buildConnector.connector {
  return (options, callback) => {
    const isTls = options.protocol === 'https:';
    const port = Number(options.port) || (isTls ? 443 : 80);
    const tcp = connectTcp({ host: options.hostname, port });
    const whenTcp = (error: Error | null): void => {
      if (error) callback(error, null);
      else if (!isTls) callback(null, tcp.setNoDelay(true));
      else secure(tcp, options, limits, callback);
    };
    awaitEvent(tcp, 'connect', limits.connectTimeoutMs, 'CONNECT_TIMEOUT', whenTcp);
  };
}

function secure(
  tcp: Socket,
  options: buildConnector.Options,
  limits: ConnectLimits,
  callback: buildConnector.Callback,
): void {
  const name = options.servername ?? options.hostname;
  const tls = connectTls({
    socket: tcp.setNoDelay(true),
    // A certificate is checked against an address as well, but an address may not be sent as a name.
    ...(isIP(name) ? { host: name } : { servername: name }),
    ALPNProtocols: ['http/1.1'],
  });
  awaitEvent(tls, 'secureConnect', limits.tlsTimeoutMs, 'TLS_TIMEOUT', (error) => {
    if (!error) {
      callback(null, tls);
      return;
    }
    tcp.destroy();
    callback(error, null);
  });
}

function awaitEvent(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  timeoutMs: number,
  code: ConnectLimitError['code'],
  done: (error: Error | null) => void,
): void {
  const timer = setTimeout(() => socket.destroy(new ConnectLimitError(code)), timeoutMs);
  const finish = (error: Error | null): void => {
    clearTimeout(timer);
    socket.off(event, succeed).off('error', finish).off('close', close);
    // Whoever takes the socket over listens to its errors; a dropped one may still report some.
    if (error) socket.on('error', ignoreLateError).destroy();
    done(error);
  };
  const succeed = (): void => finish(null);
  const close = (): void => finish(new Error('closed while connecting'));
  socket.once(event, succeed).once('error', finish).once('close', close);
}

function ignoreLateError(): void {
  // The first error was already reported through the callback.
}
