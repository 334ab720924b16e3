import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Recorded {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Stands between the provider and the callback worker, so that callbacks can be held up and sent again as they were. */
export interface CallbackRelay {
  readonly url: string;
  leadTo(callbackUrl: string): void;
  /** While blocked, the provider is refused and tries again later. */
  block(blocked: boolean): void;
  /** The last ones again, newest first: out of order. Answers how many the worker took. */
  replay(count: number): Promise<number>;
  stop(): Promise<void>;
}

const KEPT_MAX = 400;
const PASSED_ON = ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];

export const startCallbackRelay = async (): Promise<CallbackRelay> => {
  let target: string | null = null;
  let blocked = false;
  const kept: Recorded[] = [];
  const send = async (each: Recorded): Promise<number> => {
    const answer = await fetch(`${target ?? ''}${each.url}`, {
      method: 'POST',
      headers: each.headers,
      body: new Uint8Array(each.body),
      signal: AbortSignal.timeout(5_000),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => response.destroy());
    request.on('end', () => {
      if (blocked || target === null) {
        response.writeHead(503).end();
        return;
      }
      const headers = Object.fromEntries(
        PASSED_ON.flatMap((name) => {
          const value = request.headers[name];
          return typeof value === 'string' ? [[name, value]] : [];
        }),
      );
      const recorded = { url: request.url ?? '/', headers, body: Buffer.concat(chunks) };
      kept.push(recorded);
      if (kept.length > KEPT_MAX) kept.shift();
      send(recorded).then(
        (status) => response.writeHead(status).end(),
        () => response.writeHead(502).end(),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo: (callbackUrl) => {
      target = callbackUrl;
    },
    block: (value) => {
      blocked = value;
    },
    replay: async (count) => {
      let taken = 0;
      for (const each of kept.slice(-count).reverse()) {
        const status = await send(each).catch(() => 0);
        if (status >= 200 && status < 300) taken += 1;
      }
      return taken;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
