import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

/** One address before several processes of a kind. */
export interface Front {
  readonly url: string;
  /** Requests and sockets that each target has been given, in the order of the targets. */
  passed(): readonly number[];
  stop(): Promise<void>;
}

export interface FrontOptions {
  readonly host: string;
  readonly port: number;
  /** Ports on the same host. */
  readonly targets: readonly number[];
  /** Where each target says whether it takes work, in their order; what says no is asked last. None: all take work. */
  readonly readyUrls?: readonly string[];
}

const CONNECT_LIMIT_MS = 1_000;
const READY_EVERY_MS = 250;
const READY_LIMIT_MS = 5_000;

/**
 * Gives requests and sockets to the targets in turn. A target that takes no connection is passed over, so that one process of
 * two can be gone without a failed request; when none takes it, the answer is 503. What a target has begun to receive is never
 * given to another.
 */
export const startFront = async (options: FrontOptions): Promise<Front> => {
  const { host, port, targets } = options;
  const readiness = watchReadiness(options.readyUrls ?? []);
  const passed = targets.map(() => 0);
  const sockets = new Set<Socket>();
  let next = 0;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  };
  const reach = async (): Promise<Socket | null> => {
    const first = next;
    next = (next + 1) % targets.length;
    const inTurn = targets.map((_, tries) => (first + tries) % targets.length);
    const inOrder = [
      ...inTurn.filter((index) => readiness.takesWork(index)),
      // Better asked than refused: all may have said no, and only they can say why.
      ...inTurn.filter((index) => !readiness.takesWork(index)),
    ];
    for (const index of inOrder) {
      const socket = await open(host, targets[index] ?? 0);
      if (socket === null) continue;
      passed[index] = (passed[index] ?? 0) + 1;
      keep(socket);
      return socket;
    }
    return null;
  };
  const server = createServer((request, response) => {
    void reach().then((socket) => {
      if (socket === null) refuse(response, 503);
      else carry(request, response, socket);
    });
  });
  server.on('connection', keep);
  server.on('upgrade', (request: IncomingMessage, client: Socket, head: Buffer) => {
    void reach().then((socket) => {
      if (socket === null)
        client.end('HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n\r\n');
      else tunnel(request, client, head, socket);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    passed: () => passed,
    stop: () =>
      new Promise((resolve) => {
        readiness.stop();
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
};

/** Asks every target again and again, as a load balancer does. */
const watchReadiness = (
  urls: readonly string[],
): { takesWork(index: number): boolean; stop(): void } => {
  const refused = new Set<number>();
  const asking = new Set<number>();
  const look = async (url: string, index: number): Promise<void> => {
    if (asking.has(index)) return;
    asking.add(index);
    try {
      const answer = await fetch(url, { signal: AbortSignal.timeout(READY_LIMIT_MS) });
      await answer.arrayBuffer();
      if (answer.ok) refused.delete(index);
      else refused.add(index);
    } catch {
      refused.add(index);
    } finally {
      asking.delete(index);
    }
  };
  const timer = setInterval(() => {
    for (const [index, url] of urls.entries()) void look(url, index);
  }, READY_EVERY_MS);
  return {
    takesWork: (index) => !refused.has(index),
    stop: () => clearInterval(timer),
  };
};

/** Null when nobody takes the connection in time. */
const open = (host: string, port: number): Promise<Socket | null> =>
  new Promise((resolve) => {
    const socket = connect({ host, port });
    const give = (answer: Socket | null): void => {
      clearTimeout(timer);
      socket.removeAllListeners();
      if (answer === null) socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => give(null), CONNECT_LIMIT_MS);
    socket.once('connect', () => give(socket));
    socket.once('error', () => give(null));
  });

const refuse = (response: ServerResponse, status: number): void => {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '1' });
  response.end(JSON.stringify({ errors: [{ message: 'No process takes this request now.' }] }));
};

const carry = (request: IncomingMessage, response: ServerResponse, socket: Socket): void => {
  const onward = ask({
    method: request.method,
    path: request.url,
    headers: { ...request.headers, connection: 'close' },
    createConnection: () => socket,
  });
  onward.once('response', (answer) => {
    const { connection: _, ...headers } = answer.headers;
    response.writeHead(answer.statusCode ?? 502, headers);
    answer.pipe(response);
    answer.once('error', () => response.destroy());
  });
  onward.once('error', () => refuse(response, 502));
  response.once('close', () => socket.destroy());
  request.pipe(onward);
};

const tunnel = (request: IncomingMessage, client: Socket, head: Buffer, socket: Socket): void => {
  const headers = request.rawHeaders
    .reduce<string[]>(
      (lines, word, index, all) =>
        index % 2 === 0 ? [...lines, `${word}: ${all[index + 1] ?? ''}`] : lines,
      [],
    )
    .join('\r\n');
  socket.write(`${request.method} ${request.url} HTTP/1.1\r\n${headers}\r\n\r\n`);
  socket.write(head);
  socket.pipe(client).pipe(socket);
  client.once('close', () => socket.destroy());
  socket.once('close', () => client.destroy());
};
