import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedCallback {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly rawBody: Buffer;
}

export interface CallbackReceiver {
  readonly url: string;
  /** In the order of arrival, refused ones too. */
  readonly received: readonly ReceivedCallback[];
  /** The answer to each callback from now on; 204 by default. */
  answerWith(status: (callback: ReceivedCallback) => number): void;
  close(): Promise<void>;
}

/** Takes callbacks on loopback and keeps the raw bytes of each. */
export async function startCallbackReceiver(): Promise<CallbackReceiver> {
  const received: ReceivedCallback[] = [];
  let statusFor: (callback: ReceivedCallback) => number = () => 204;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      );
      const callback = { path: request.url ?? '', headers, rawBody: Buffer.concat(chunks) };
      received.push(callback);
      response.writeHead(statusFor(callback)).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answerWith: (status) => {
      statusFor = status;
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
