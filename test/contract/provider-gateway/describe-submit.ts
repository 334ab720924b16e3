import type { Socket } from 'node:net';
import type { AmbiguousPhase, ProviderFailure } from '../../../src/domain/provider/vocabulary';
import type { Behaviour, GatewayHarness } from './gateway-harness';
import { startMisbehavingServer, withMisbehavingServer } from './misbehaving-server';

const AMBIGUOUS: readonly [Behaviour, AmbiguousPhase][] = [
  ['ANSWER_LOST', 'AFTER_WRITE'],
  ['ANSWER_CUT', 'BODY_CUT'],
  ['ANSWER_502', 'GATEWAY_502'],
  ['ANSWER_504', 'GATEWAY_504'],
  ['ANSWER_NO_ID', 'NO_JOB_ID'],
  ['ANSWER_LATE', 'HEADERS_TIMEOUT'],
];

const REFUSALS: readonly [Behaviour, ProviderFailure, boolean][] = [
  ['REFUSE_400', 'INPUT_REJECTED', false],
  ['REFUSE_401', 'PROVIDER_AUTH', true],
  ['REFUSE_402', 'PROVIDER_FUNDS', true],
  ['REFUSE_422', 'POLICY_REJECTED', false],
  ['REFUSE_429', 'THROTTLED', true],
  ['REFUSE_500', 'PROVIDER_INTERNAL', true],
  ['REFUSE_503', 'PROVIDER_UNAVAILABLE', true],
];

export function describeSubmit(harness: () => GatewayHarness): void {
  describe('submit', () => {
    it('sends one POST and gives back the id of the one job', async () => {
      const { gateway, account, request, countPosts, countJobs } = harness();
      const sent = request('WELL');
      expect(await gateway.submit(account, sent)).toMatchObject({ kind: 'ACCEPTED' });
      expect(await countPosts(sent.requestKey)).toBe(1);
      expect(await countJobs(sent.requestKey)).toBe(1);
    });

    it.each(AMBIGUOUS)('%s is UNKNOWN in phase %s, with one POST', async (behaviour, phase) => {
      const { gateway, account, request, countPosts, countJobs } = harness();
      const sent = request(behaviour);
      expect(await gateway.submit(account, sent)).toMatchObject({ kind: 'UNKNOWN', phase });
      expect(await countPosts(sent.requestKey)).toBe(1);
      expect(await countJobs(sent.requestKey)).toBe(1);
    });

    it.each(REFUSALS)('%s is REJECTED as %s', async (behaviour, failure, retryable) => {
      const { gateway, account, request, countPosts, countJobs } = harness();
      const sent = request(behaviour);
      const outcome = await gateway.submit(account, sent);
      expect(outcome).toMatchObject({ kind: 'REJECTED', failure, retryable, charge: null });
      expect(await countPosts(sent.requestKey)).toBe(1);
      expect(await countJobs(sent.requestKey)).toBe(0);
    });

    it('obeys Retry-After of a throttled submit', async () => {
      const { gateway, account, request } = harness();
      const outcome = await gateway.submit(account, request('REFUSE_429'));
      expect(outcome).toMatchObject({ retryAfterMs: 7000 });
    });

    it('tells the charge of a refusal that was charged, and does not offer it again', async () => {
      const { gateway, account, request } = harness();
      const outcome = await gateway.submit(account, request('REFUSE_422_CHARGED'));
      expect(outcome).toMatchObject({ kind: 'REJECTED', failure: 'POLICY_REJECTED' });
      expect(outcome).toMatchObject({ retryable: false, charge: { currency: 'USD' } });
    });

    it('rejects when nobody listens: no byte was written', async () => {
      const { gateway, account, request } = harness();
      const server = await startMisbehavingServer(() => undefined);
      await server.close();
      const dead = { ...account, baseUrl: `http://127.0.0.1:${server.port}` };
      expect(await gateway.submit(dead, request('WELL'))).toMatchObject(CONNECT_FAILED);
    });

    it('rejects when the TLS handshake never ends: no byte of the request was written', async () => {
      const { gateway, account, request } = harness();
      await withMisbehavingServer(
        () => undefined,
        async (server) => {
          const mute = { ...account, baseUrl: `https://127.0.0.1:${server.port}` };
          const outcome = await gateway.submit(mute, request('WELL'));
          expect(outcome).toMatchObject({ ...CONNECT_FAILED, code: 'TLS_TIMEOUT' });
          expect(server.posts()).toBe(0);
        },
      );
    });

    it('rejects an address that is none, without throwing', async () => {
      const { gateway, account, request } = harness();
      const outcome = await gateway.submit({ ...account, baseUrl: 'nowhere' }, request('WELL'));
      expect(outcome).toMatchObject(CONNECT_FAILED);
    });

    it.each<[string, (socket: Socket) => void, AmbiguousPhase]>([
      ['a reset after the request', (socket) => socket.resetAndDestroy(), 'AFTER_WRITE'],
      ['an orderly close after the request', (socket) => socket.end(), 'AFTER_WRITE'],
      ['silence', () => undefined, 'HEADERS_TIMEOUT'],
      ['half a head, then a close', (socket) => socket.end('HTTP/1.1 202 Acc'), 'AFTER_WRITE'],
      ['a body that never ends', dribble, 'BODY_CUT'],
      ['a chunked body cut in a chunk', cutChunk, 'BODY_CUT'],
      ['a refusal whose body is cut', cutRefusal, 'BODY_CUT'],
      ['a redirect', (socket) => socket.end(plain('303 See Other', '')), 'NO_JOB_ID'],
      ['a 2xx that is no JSON', (socket) => socket.end(plain('200 OK', 'fine')), 'NO_JOB_ID'],
      ['another gateway error', (socket) => socket.end(plain('520 ?', '')), 'GATEWAY_502'],
    ])('%s is UNKNOWN, with exactly one POST', async (_name, behave, phase) => {
      const { gateway, account, request } = harness();
      await withMisbehavingServer(behave, async (server) => {
        const odd = { ...account, baseUrl: `http://127.0.0.1:${server.port}` };
        const outcome = await gateway.submit(odd, request('WELL'));
        expect(outcome).toMatchObject({ kind: 'UNKNOWN', phase });
        expect(server.posts()).toBe(1);
      });
    });

    it('keeps keys, tokens and signed URLs out of a bounded digest', async () => {
      const { gateway, account, request } = harness();
      const sent = request('WELL', { imageUrl: 'http://127.0.0.1:1/in.png?sig=image-secret' });
      const told = JSON.stringify({
        error: { code: 'x', message: `${account.apiKey} ${account.webhookSecrets[0]}` },
        echo: [sent.callbackUrl, sent.imageUrl, 'https://cdn.example/v.mp4?sig=output-secret'],
        filler: 'y'.repeat(5000),
      });
      const { digest } = await withMisbehavingServer(
        (socket) => socket.end(plain('400 Bad', told.replaceAll('/', '\\/'))),
        ({ port }) => gateway.submit({ ...account, baseUrl: `http://127.0.0.1:${port}` }, sent),
      );
      expect(digest.length).toBeLessThanOrEqual(2000);
      expect(digest).toContain('cdn.example');
      const token = new URL(sent.callbackUrl).pathname.split('/').at(-1) ?? '';
      const secrets = [account.apiKey, account.webhookSecrets[0] ?? '', token, '-secret'];
      for (const secret of secrets) expect(digest).not.toContain(secret);
    });
  });
}

const CONNECT_FAILED = {
  kind: 'REJECTED',
  failure: 'CONNECT_FAILED',
  retryable: true,
  charge: null,
} as const;

function plain(status: string, body: string): string {
  return `HTTP/1.1 ${status}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

function dribble(socket: Socket): void {
  socket.write('HTTP/1.1 202 Accepted\r\ncontent-length: 100000\r\n\r\n{');
}

function cutChunk(socket: Socket): void {
  socket.end('HTTP/1.1 202 Accepted\r\ntransfer-encoding: chunked\r\n\r\n40\r\n{"id":"vid_');
}

function cutRefusal(socket: Socket): void {
  socket.end('HTTP/1.1 422 Unprocessable\r\ncontent-length: 500\r\n\r\n{"error"');
}
