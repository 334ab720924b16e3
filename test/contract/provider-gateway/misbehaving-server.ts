import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface MisbehavingServer {
  readonly port: number;
  /** Connections on which a POST began. */
  readonly posts: () => number;
  close(): Promise<void>;
}

/** Runs `use` against such a server and closes it, whether `use` succeeds or not. */
export async function withMisbehavingServer<T>(
  onRequest: (socket: Socket) => void,
  use: (server: MisbehavingServer) => Promise<T>,
): Promise<T> {
  const server = await startMisbehavingServer(onRequest);
  try {
    return await use(server);
  } finally {
    await server.close();
  }
}

/** A TCP server that does as told once the head of a request has arrived, or with no request at all. */
export async function startMisbehavingServer(
  onRequest: (socket: Socket) => void,
): Promise<MisbehavingServer> {
  const sockets = new Set<Socket>();
  let posts = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = '';
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      const before = text;
      text += chunk.toString('latin1');
      if (!before.startsWith('POST ') && text.startsWith('POST ')) posts += 1;
      if (!before.includes('\r\n\r\n') && text.includes('\r\n\r\n')) onRequest(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    posts: () => posts,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
