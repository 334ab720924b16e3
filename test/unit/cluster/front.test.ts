import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import WebSocket, { WebSocketServer } from 'ws';

import { startFront, type Front } from '../../../cluster/front';
import { eventually } from '../../support/eventually';

const HOST = '127.0.0.1';

/** A process that says its name, repeats a body, and echoes what comes over a socket. */
const startTarget = async (name: string): Promise<Server> => {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      response.writeHead(201, { 'x-target': name });
      response.end(Buffer.concat(parts));
    });
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    socket.on('message', (text) => socket.send(`${name} ${(text as Buffer).toString()}`));
  });
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  return server;
};

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

const targetOf = async (front: Front): Promise<string> => {
  const answer = await fetch(front.url, { method: 'POST', body: 'x' });
  await answer.arrayBuffer();
  return answer.headers.get('x-target') ?? `HTTP ${answer.status}`;
};

describe('the front of two processes', () => {
  let targets: Server[];
  let front: Front;

  beforeEach(async () => {
    targets = [await startTarget('one'), await startTarget('two')];
    front = await startFront({ host: HOST, port: 0, targets: targets.map(portOf) });
  });

  afterEach(async () => {
    await front.stop();
    await Promise.all(targets.filter(({ listening }) => listening).map(close));
  });

  it('gives requests to both in turn, also over one kept connection', async () => {
    const names: string[] = [];
    for (let index = 0; index < 6; index += 1) names.push(await targetOf(front));
    expect(names).toEqual(['one', 'two', 'one', 'two', 'one', 'two']);
    expect(front.passed()).toEqual([3, 3]);
  });

  it('carries bodies, status and headers', async () => {
    const body = 'y'.repeat(300_000);
    const answer = await fetch(`${front.url}/path`, { method: 'POST', body });
    expect(answer.status).toBe(201);
    expect(await answer.text()).toBe(body);
  });

  it('passes over one that is gone, and says 503 when both are', async () => {
    await close(targets[0] as Server);
    expect([await targetOf(front), await targetOf(front)]).toEqual(['two', 'two']);
    await close(targets[1] as Server);
    const answer = await fetch(front.url);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
  });

  it('asks one that says it takes no work only when no other does', async () => {
    const probe = createServer((_, response) => {
      response.writeHead(503);
      response.end();
    });
    await new Promise<void>((resolve) => probe.listen(0, HOST, resolve));
    const yes = createServer((_, response) => response.end());
    await new Promise<void>((resolve) => yes.listen(0, HOST, resolve));
    const ready = await startFront({
      ...{ host: HOST, port: 0, targets: targets.map(portOf) },
      readyUrls: [probe, yes].map((each) => `http://${HOST}:${portOf(each)}`),
    });
    const both = async (): Promise<string> =>
      [await targetOf(ready), await targetOf(ready)].sort().join(' ');
    try {
      await eventually('only the other', async () => ((await both()) === 'two two' ? true : null));
      await close(targets[1] as Server);
      expect(await targetOf(ready)).toBe('one');
    } finally {
      await ready.stop();
      await Promise.all([probe, yes].map(close));
    }
  });

  it('carries WebSockets', async () => {
    const socket = new WebSocket(front.url.replace('http', 'ws'));
    const heard = new Promise((resolve, reject) => {
      socket.once('open', () => socket.send('hello'));
      socket.once('message', (text) => resolve((text as Buffer).toString()));
      socket.once('error', reject);
    });
    expect(await heard).toBe('one hello');
    socket.close();
  });
});
