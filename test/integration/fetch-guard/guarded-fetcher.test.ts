import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect as connectSocket, type AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import {
  createGuardedFetcher,
  type GuardedFetcherOptions,
} from '../../../src/adapters/fetch-guard/guarded-fetcher';
import {
  OutputInterruptedError,
  OutputTooLargeError,
  type OutputOpening,
  type OutputSource,
} from '../../../src/ports/output-source';

const PUBLIC = '93.184.216.34';
const CONTENT = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** An origin on loopback that counts what reaches it. */
class Origin {
  connections = 0;
  bytes = 0;
  readonly requests: IncomingMessage[] = [];
  handler: Handler = (_request, response) => response.end(CONTENT);
  private readonly server: Server = createServer((request, response) => {
    this.requests.push(request);
    this.handler(request, response);
  });

  async start(): Promise<void> {
    this.server.on('connection', (socket) => {
      this.connections += 1;
      socket.on('data', (chunk) => (this.bytes += chunk.length));
    });
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }
  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }
  get host(): string {
    return `127.0.0.1:${this.port}`;
  }
  openSockets(): Promise<number> {
    return new Promise((resolve, reject) =>
      this.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  }
  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

let origin: Origin;
/** The addresses that the fetcher wanted to connect to. */
let dialled: string[];

beforeEach(async () => {
  origin = new Origin();
  dialled = [];
  await origin.start();
});
afterEach(() => origin.stop());

function fetcherWith(options: Partial<GuardedFetcherOptions> = {}): OutputSource {
  return createGuardedFetcher({
    clock: { now: () => new Date(Date.UTC(2030, 0, 1)) },
    insecureLocalHosts: [],
    resolve: async () => [PUBLIC],
    // Stands for the internet: whatever address was judged, the bytes go to the origin, without TLS.
    connect: (target, callback) => {
      dialled.push(target.hostname);
      const socket = connectSocket(origin.port, '127.0.0.1');
      socket.once('connect', () => callback(null, socket));
      socket.once('error', (error) => callback(error, null));
    },
    ...options,
  });
}

/** As the embedded sandbox is reached: real connections to loopback. */
function sandboxFetcher(options: Partial<GuardedFetcherOptions> = {}): OutputSource {
  return createGuardedFetcher({
    clock: { now: () => new Date(Date.UTC(2030, 0, 1)) },
    insecureLocalHosts: [origin.host],
    ...options,
  });
}

const anyHost = { allowedHosts: 'any', sizeBytesMax: 1_000_000 } as const;

async function open(
  source: OutputSource,
  url: string,
  options: Partial<Parameters<OutputSource['open']>[1]> = {},
): Promise<OutputOpening> {
  return source.open(url, { ...anyHost, ...options });
}

async function readAll(opening: OutputOpening): Promise<Buffer> {
  if (opening.kind !== 'OK') throw new Error(`not open: ${JSON.stringify(opening)}`);
  return buffer(opening.body);
}

/** Compared as a whole: jest takes half a second to compare so many bytes one by one. */
function expectContent(bytes: Buffer): void {
  expect([bytes.length, bytes.equals(CONTENT)]).toEqual([CONTENT.length, true]);
}

describe('targets that get no byte', () => {
  const expectUntouched = (): void => {
    expect([origin.connections, origin.bytes, dialled.length]).toEqual([0, 0, 0]);
  };

  it.each([
    ...['2130706433', '0x7f.1', '127.1', '0177.0.0.1', '127.0.0.1', '0x7f000001', '127.0.0.1.'],
    ...['[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]'],
    ...['[2002:7f00:1::]', '[2001:0:7f00:1::]', '１２７.0.0.1', '0', '[::]', '169.254.169.254'],
  ])('https to the address %s is refused', async (host) => {
    const opening = await open(fetcherWith(), `https://${host}:${origin.port}/`);
    expect(opening).toMatchObject({ kind: 'REFUSED', reason: 'ADDRESS_NOT_ALLOWED' });
    expectUntouched();
  });

  it.each(['http:', 'ftp:', 'file:', 'gopher:', 'ws:'])(
    'the scheme %s is refused',
    async (scheme) => {
      const opening = await open(fetcherWith(), `${scheme}//127.0.0.1/etc/passwd`);
      expect(opening).toMatchObject({ kind: 'REFUSED', reason: 'SCHEME_NOT_ALLOWED' });
      expectUntouched();
    },
  );

  it.each(['data:text/plain,hello', 'javascript:1', 'blob:https://a/b'])(
    'the URL %s is refused',
    async (url) => {
      expect((await open(fetcherWith(), url)).kind).toBe('REFUSED');
      expectUntouched();
    },
  );

  it('text that is no URL is refused', async () => {
    const opening = await open(fetcherWith(), '/relative');
    expect(opening).toMatchObject({ kind: 'REFUSED', reason: 'URL_INVALID' });
  });

  it('credentials in the URL are refused, and not repeated in the answer', async () => {
    const opening = await open(fetcherWith(), 'https://user:secret@cdn.example/a?token=secret');
    expect(opening).toMatchObject({ kind: 'REFUSED', reason: 'CREDENTIALS_IN_URL' });
    expect(JSON.stringify(opening)).not.toContain('secret');
    expectUntouched();
  });

  it('a name with one public and one private address is refused', async () => {
    for (const addresses of [
      [PUBLIC, '10.0.0.1'],
      ['127.0.0.1', PUBLIC],
      [PUBLIC, '::ffff:10.0.0.1'],
    ]) {
      const fetcher = fetcherWith({ resolve: async () => addresses });
      const opening = await open(fetcher, 'https://cdn.example/a');
      expect(opening).toMatchObject({ kind: 'REFUSED', reason: 'ADDRESS_NOT_ALLOWED' });
    }
    expectUntouched();
  });

  it.each([
    ['cdn.example', 'https://cdn.example.evil.test/a'],
    ['cdn.example', 'https://sub.cdn.example/a'],
    ['cdn.example', 'https://cdn.example:8443/a'],
    ['*.cdn.example', 'https://cdn.example/a'],
    ['*.cdn.example', 'https://evilcdn.example/a'],
    ['cdn.example', 'https://cdn.example./a'],
  ])('with only %s allowed, %s is refused', async (allowed, url) => {
    const opening = await open(fetcherWith(), url, { allowedHosts: [allowed] });
    expect(opening).toMatchObject({ kind: 'REFUSED', reason: 'HOST_NOT_ALLOWED' });
    expectUntouched();
  });

  it('a loopback host that is not listed with just this port is refused', async () => {
    const fetcher = sandboxFetcher({ insecureLocalHosts: ['127.0.0.1:1'] });
    expect((await open(fetcher, `http://${origin.host}/`)).kind).toBe('REFUSED');
    expectUntouched();
  });

  it('a listed loopback host that resolves elsewhere is refused', async () => {
    const fetcher = sandboxFetcher({
      insecureLocalHosts: [`sandbox.test:${origin.port}`],
      resolve: async () => [PUBLIC],
    });
    const opening = await open(fetcher, `http://sandbox.test:${origin.port}/`);
    expect(opening).toMatchObject({ kind: 'REFUSED', reason: 'ADDRESS_NOT_ALLOWED' });
  });
});

describe('the address that was judged', () => {
  it('is the one connected to, though the name answers 127.0.0.1 the next time', async () => {
    const answers = [[PUBLIC], ['127.0.0.1']];
    let lookups = 0;
    const fetcher = fetcherWith({ resolve: async () => answers[lookups++] ?? [] });
    const opening = await open(fetcher, 'https://rebind.example/a');
    expectContent(await readAll(opening));
    expect(dialled).toEqual([PUBLIC]);
    expect(lookups).toBe(1);
    expect(origin.requests[0]?.headers.host).toBe('rebind.example');

    expect(await open(fetcher, 'https://rebind.example/a')).toMatchObject({ kind: 'REFUSED' });
    expect(dialled).toHaveLength(1);
  });

  it('is judged again at a redirect to the same name', async () => {
    const answers = [[PUBLIC], ['127.0.0.1']];
    const fetcher = fetcherWith({ resolve: async () => answers.shift() ?? [] });
    origin.handler = (_request, response) => response.writeHead(302, { location: '/b' }).end();
    const opening = await open(fetcher, 'https://rebind.example/a');
    expect(opening).toMatchObject({ kind: 'REFUSED', reason: 'ADDRESS_NOT_ALLOWED' });
    expect(origin.requests).toHaveLength(1);
  });
});

describe('redirects', () => {
  const redirectTo = (location: string): void => {
    origin.handler = (_request, response) => response.writeHead(302, { location }).end();
  };

  it.each([
    ['http://169.254.169.254/latest/meta-data/', 'SCHEME_NOT_ALLOWED'],
    ['https://169.254.169.254/latest/meta-data/', 'ADDRESS_NOT_ALLOWED'],
    ['https://[64:ff9b::a9fe:a9fe]/', 'ADDRESS_NOT_ALLOWED'],
    ['file:///etc/passwd', 'SCHEME_NOT_ALLOWED'],
    ['//user@cdn.example/', 'CREDENTIALS_IN_URL'],
  ])('to %s are refused', async (location, reason) => {
    redirectTo(location);
    const opening = await open(fetcherWith(), 'https://cdn.example/a');
    expect(opening).toMatchObject({ kind: 'REFUSED', reason });
    expect(origin.connections).toBe(1);
  });

  it('to a host outside the list are refused', async () => {
    redirectTo('https://other.example/');
    const opening = await open(fetcherWith(), 'https://cdn.example/', {
      allowedHosts: ['cdn.example'],
    });
    expect(opening).toMatchObject({ kind: 'REFUSED', reason: 'HOST_NOT_ALLOWED' });
  });

  it('are followed three times and not more', async () => {
    const hops = (count: number): Handler => {
      return (request, response) => {
        const at = Number(request.url?.slice(1));
        if (at < count) response.writeHead(307, { location: `/${at + 1}` }).end();
        else response.end(CONTENT);
      };
    };
    origin.handler = hops(3);
    expectContent(await readAll(await open(fetcherWith(), 'https://cdn.example/0')));
    origin.handler = hops(4);
    const opening = await open(fetcherWith(), 'https://cdn.example/0');
    expect(opening).toMatchObject({ kind: 'REFUSED', reason: 'TOO_MANY_REDIRECTS' });
    expect(await settledSockets()).toBe(0);
  });
});

describe('a good output', () => {
  it('is read with its size and ETag, from the sandbox over plain http too', async () => {
    origin.handler = (_request, response) =>
      response.writeHead(200, { etag: '"v1"', 'content-length': CONTENT.length }).end(CONTENT);
    const opening = await open(sandboxFetcher(), `http://${origin.host}/o?x=1`, {
      allowedHosts: ['127.0.0.1'],
    });
    expect(opening).toMatchObject({
      ...{ kind: 'OK', status: 200, sizeBytes: CONTENT.length, etag: '"v1"', rangeStart: 0 },
    });
    expectContent(await readAll(opening));
    expect(origin.requests[0]?.url).toBe('/o?x=1');
    expect(await settledSockets()).toBe(0);
  });

  it('matches wildcard hosts and explicit ports', async () => {
    for (const [allowed, url] of [
      ['*.cdn.example', 'https://a.b.cdn.example/'],
      ['cdn.example:8443', 'https://cdn.example:8443/'],
      ['CDN.example', 'https://cdn.EXAMPLE/'],
    ] as const) {
      const opening = await open(fetcherWith(), url, { allowedHosts: [allowed] });
      expectContent(await readAll(opening));
    }
  });
});

describe('a transfer that is cut', () => {
  /** Serves ranges of one version, and breaks off the first answer half-way. */
  const cutOnce = (etags: readonly string[]): Handler => {
    let served = 0;
    return (request, response) => {
      const etag = etags[Math.min(served, etags.length - 1)] ?? '';
      const first = served === 0;
      served += 1;
      const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
      const honoured = range !== null && request.headers['if-range'] === etag;
      const start = honoured ? Number(range[1]) : 0;
      response.writeHead(honoured ? 206 : 200, {
        etag,
        'content-length': CONTENT.length - start,
        ...(honoured
          ? { 'content-range': `bytes ${start}-${CONTENT.length - 1}/${CONTENT.length}` }
          : {}),
      });
      if (!first) response.end(CONTENT.subarray(start));
      else response.write(CONTENT.subarray(0, 50_000), () => response.destroy());
    };
  };

  const readPart = async (opening: OutputOpening): Promise<{ part: Buffer; error: unknown }> => {
    if (opening.kind !== 'OK') throw new Error(JSON.stringify(opening));
    const chunks: Buffer[] = [];
    let error: unknown = null;
    try {
      for await (const chunk of opening.body) chunks.push(chunk as Buffer);
    } catch (caught) {
      error = caught;
    }
    return { part: Buffer.concat(chunks), error };
  };

  it('says so, and goes on from where it was', async () => {
    origin.handler = cutOnce(['"v1"']);
    const { part, error } = await readPart(await open(fetcherWith(), 'https://cdn.example/a'));
    expect(error).toBeInstanceOf(OutputInterruptedError);
    expect(part.length).toBeLessThan(CONTENT.length);
    const rest = await open(fetcherWith(), 'https://cdn.example/a', {
      rangeStart: part.length,
      ifRangeEtag: '"v1"',
    });
    expect(rest).toMatchObject({ status: 206, rangeStart: part.length, sizeBytes: 100_000 });
    expectContent(Buffer.concat([part, await readAll(rest)]));
  });

  it('starts over when the output has changed meanwhile', async () => {
    origin.handler = cutOnce(['"v1"', '"v2"']);
    const { part } = await readPart(await open(fetcherWith(), 'https://cdn.example/a'));
    const opening = await open(fetcherWith(), 'https://cdn.example/a', {
      rangeStart: part.length,
      ifRangeEtag: '"v1"',
    });
    expect(opening).toMatchObject({ status: 200, rangeStart: 0, etag: '"v2"' });
    expectContent(await readAll(opening));
  });

  it.each([
    ['another version in spite of If-Range', '"v2"', 50],
    ['another place than asked', '"v1"', 51],
  ])('starts over when the server sends a part of %s', async (_, etag, start) => {
    origin.handler = (request, response) => {
      if (request.headers.range === undefined) response.end(CONTENT);
      else
        response
          .writeHead(206, { etag, 'content-range': `bytes ${start}-99999/100000` })
          .end(CONTENT.subarray(start));
    };
    const opening = await open(fetcherWith(), 'https://cdn.example/a', {
      rangeStart: 50,
      ifRangeEtag: '"v1"',
    });
    expect(opening).toMatchObject({ status: 200, rangeStart: 0 });
    expectContent(await readAll(opening));
  });

  it('starts over when the range is beyond the end', async () => {
    origin.handler = (request, response) =>
      request.headers.range === undefined
        ? response.end(CONTENT)
        : response.writeHead(416, { 'content-range': 'bytes */100000' }).end();
    const opening = await open(fetcherWith(), 'https://cdn.example/a', { rangeStart: 100_000 });
    expect(opening).toMatchObject({ status: 200, rangeStart: 0 });
    await readAll(opening);
  });
});

describe('limits', () => {
  it('refuses an output that states too many bytes', async () => {
    const opening = await open(fetcherWith(), 'https://cdn.example/a', { sizeBytesMax: 99_999 });
    expect(opening).toMatchObject({ kind: 'REFUSED', reason: 'TOO_LARGE' });
    expect(await settledSockets()).toBe(0);
  });

  it('stops an output that states no length at the bound', async () => {
    origin.handler = (_request, response) => {
      const write = (): void => {
        if (!response.destroyed) response.write(CONTENT, write);
      };
      write();
    };
    const opening = await open(fetcherWith(), 'https://cdn.example/a', { sizeBytesMax: 250_000 });
    expect(opening).toMatchObject({ kind: 'OK', sizeBytes: null });
    await expect(readAll(opening)).rejects.toBeInstanceOf(OutputTooLargeError);
    expect(await settledSockets()).toBe(0);
  });

  it('refuses encoded content', async () => {
    origin.handler = (_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('x');
    const opening = await open(fetcherWith(), 'https://cdn.example/a');
    expect(opening).toMatchObject({ kind: 'REFUSED', reason: 'ENCODED_CONTENT' });
    expect(origin.requests[0]?.headers['accept-encoding']).toBe('identity');
  });

  it('does not wait for a silent server, before the answer or in its middle', async () => {
    origin.handler = () => undefined;
    const fetcher = fetcherWith({ idleTimeoutMs: 50 });
    expect((await open(fetcher, 'https://cdn.example/a')).kind).toBe('UNAVAILABLE');
    origin.handler = (_request, response) => response.write('a');
    const opening = await open(fetcher, 'https://cdn.example/a');
    await expect(readAll(opening)).rejects.toBeInstanceOf(OutputInterruptedError);
  });

  it('ends a server that drips in total time, and a resolver that hangs', async () => {
    origin.handler = (_request, response) => {
      const drip = setInterval(() => response.write('a'), 10);
      response.once('close', () => clearInterval(drip));
    };
    const opening = await open(fetcherWith({ totalTimeoutMs: 200 }), 'https://cdn.example/a');
    await expect(readAll(opening)).rejects.toBeInstanceOf(OutputInterruptedError);
    const hanging = fetcherWith({
      totalTimeoutMs: 50,
      resolve: () => new Promise(() => undefined),
    });
    expect((await open(hanging, 'https://cdn.example/a')).kind).toBe('UNAVAILABLE');
  });

  it('closes the connection of a body that nobody reads', async () => {
    const opening = await open(fetcherWith(), 'https://cdn.example/a');
    if (opening.kind === 'OK') opening.body.destroy();
    expect(await settledSockets()).toBe(0);
  });

  it('ends by the signal of the caller, with its reason', async () => {
    const controller = new AbortController();
    origin.handler = (_request, response) => response.write('a');
    const { signal } = controller;
    const opening = await open(fetcherWith(), 'https://cdn.example/a', { signal });
    const reading = readAll(opening);
    controller.abort(new Error('lease lost'));
    await expect(reading).rejects.toThrow('lease lost');
    await expect(open(fetcherWith(), 'https://cdn.example/a', { signal })).rejects.toThrow(
      'lease lost',
    );
  });
});

describe('answers that are no output', () => {
  it.each([401, 403, 404, 410])('%s means gone', async (status) => {
    origin.handler = (_request, response) => response.writeHead(status).end('no');
    expect(await open(fetcherWith(), 'https://cdn.example/a')).toEqual({ kind: 'GONE', status });
    expect(await settledSockets()).toBe(0);
  });

  it.each([
    [503, '7', 7000],
    [429, 'Tue, 01 Jan 2030 00:00:30 GMT', 30_000],
    [500, undefined, null],
  ])('%s means later', async (status, header, retryAfterMs) => {
    origin.handler = (_request, response) =>
      response.writeHead(status, header ? { 'retry-after': header } : {}).end();
    const opening = await open(fetcherWith(), 'https://cdn.example/a');
    expect(opening).toMatchObject({ kind: 'UNAVAILABLE', retryAfterMs });
  });

  it('a name without address and a closed port mean later', async () => {
    const nameless = fetcherWith({ resolve: () => Promise.reject(new Error('ENOTFOUND')) });
    expect((await open(nameless, 'https://cdn.example/a')).kind).toBe('UNAVAILABLE');
    const closed = new Origin();
    await closed.start();
    const { host } = closed;
    await closed.stop();
    const fetcher = sandboxFetcher({ insecureLocalHosts: [host] });
    expect((await open(fetcher, `http://${host}/`)).kind).toBe('UNAVAILABLE');
  });
});

/** The number of sockets the origin still holds, once the closings under way have arrived. */
async function settledSockets(): Promise<number> {
  for (let turn = 0; turn < 2000 && (await origin.openSockets()) > 0; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  return origin.openSockets();
}
