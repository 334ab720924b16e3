import type { Socket } from 'node:net';
import type { JobObservation, QueryOutcome } from '../../../src/domain/provider/vocabulary';
import { eventually } from '../../support/eventually';
import type { Behaviour, GatewayHarness } from './gateway-harness';
import { withMisbehavingServer } from './misbehaving-server';

export function describeQueries(harness: () => GatewayHarness): void {
  async function accept(behaviour: Behaviour): Promise<string> {
    const { gateway, account, request } = harness();
    const outcome = await gateway.submit(account, request(behaviour));
    if (outcome.kind !== 'ACCEPTED') throw new Error(`not accepted: ${JSON.stringify(outcome)}`);
    return outcome.jobId;
  }

  function observe(jobId: string, status: string): Promise<JobObservation> {
    const { gateway, account } = harness();
    return eventually(`${jobId} is ${status}`, async () => {
      const outcome = await gateway.query(account, jobId);
      const isThere = outcome.kind === 'FOUND' && outcome.observation.status === status;
      return isThere ? outcome.observation : null;
    });
  }

  describe('query', () => {
    it('tells a success with its output, its charge and the echoed key', async () => {
      const observation = await observe(await accept('WELL'), 'SUCCEEDED');
      expect(observation).toMatchObject({
        progress: 100,
        failure: null,
        charge: { amount: '0.0500', currency: 'USD' },
        outputs: [{ index: 0, url: expect.stringMatching(/^http/), expiresAt: expect.any(Date) }],
      });
      expect(observation.echoedRequestKey).not.toBeNull();
      expect(observation.providerUpdatedAt).toBeInstanceOf(Date);
    });

    it('keeps signatures and callback tokens out of the raw answer', async () => {
      const { gateway, account } = harness();
      const jobId = await accept('WELL');
      await observe(jobId, 'SUCCEEDED');
      const outcome = await gateway.query(account, jobId);
      expect(JSON.stringify(outcome.kind === 'FOUND' && outcome.raw)).not.toMatch(/sig=|token-/);
    });

    it('is UNAVAILABLE while polls answer 500, and never a verdict on the job', async () => {
      const { gateway, account } = harness();
      const jobId = await accept('POLLS_500_THREE_TIMES');
      for (let poll = 0; poll < 3; poll += 1) {
        const outcome = await gateway.query(account, jobId);
        expect(outcome).toMatchObject({ kind: 'UNAVAILABLE', code: 'HTTP_500' });
      }
      await observe(jobId, 'SUCCEEDED');
    });

    it('keeps a status word nobody knows apart from every state', async () => {
      const { gateway, account } = harness();
      const jobId = await accept('UNKNOWN_STATUS');
      expect(await gateway.query(account, jobId)).toMatchObject({
        kind: 'FOUND',
        observation: { status: 'UNRECOGNIZED', rawStatus: 'hyperflux', failure: null },
      });
      await observe(jobId, 'SUCCEEDED');
    });

    it('tells a filtered success as a failure by policy, without a charge', async () => {
      expect(await observe(await accept('FILTERED'), 'FAILED')).toMatchObject({
        rawStatus: 'succeeded',
        failure: { kind: 'POLICY_REJECTED', code: 'filtered' },
        outputs: [],
        charge: { amount: '0.0000' },
      });
    });

    it('tells what a failed job was charged', async () => {
      expect(await observe(await accept('FAILED_CHARGED'), 'FAILED')).toMatchObject({
        failure: { kind: 'PROVIDER_INTERNAL' },
        charge: { amount: '0.0500', currency: 'USD' },
      });
    });

    it('says NOT_FOUND for a job the provider does not know', async () => {
      const { gateway, account } = harness();
      expect(await gateway.query(account, 'vid_unknown')).toEqual({ kind: 'NOT_FOUND' });
    });

    it('is UNAVAILABLE when there is no answer, a slow one, or one that makes no sense', async () => {
      const { gateway, account } = harness();
      const dead = { ...account, baseUrl: 'http://127.0.0.1:9' };
      expect(await gateway.query(dead, 'vid_1')).toMatchObject({ kind: 'UNAVAILABLE' });
      const query = ({ port }: { port: number }): Promise<QueryOutcome> =>
        gateway.query({ ...account, baseUrl: `http://127.0.0.1:${port}` }, 'vid_1');
      expect(await withMisbehavingServer(() => undefined, query)).toMatchObject({
        kind: 'UNAVAILABLE',
        code: 'HEADERS_TIMEOUT',
      });
      const answerOddly = (socket: Socket): void => {
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
      };
      expect(await withMisbehavingServer(answerOddly, query)).toMatchObject({
        kind: 'UNAVAILABLE',
        code: 'MALFORMED_BODY',
      });
    });
  });

  describe('a poll', () => {
    it('keeps the status of a job whose charge makes no sense', async () => {
      const { gateway, account } = harness();
      const body = JSON.stringify({
        id: 'vid_1',
        status: 'succeeded',
        created_at: '2026-01-01T00:00:00Z',
        progress: 150,
        cost: { amount: '99999999999999999999.99', currency: 'USD' },
        outputs: [{ index: 0, url: 'http://127.0.0.1/\0one' }],
      });
      const answer = (socket: Socket): void => {
        socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      };
      const outcome = await withMisbehavingServer(answer, ({ port }) =>
        gateway.query({ ...account, baseUrl: `http://127.0.0.1:${port}` }, 'vid_1'),
      );
      expect(outcome).toMatchObject({
        kind: 'FOUND',
        observation: {
          status: 'SUCCEEDED',
          progress: 100,
          charge: null,
          outputs: [{ url: 'http://127.0.0.1/one' }],
        },
      });
    });
  });

  describe('cancel', () => {
    it('is REQUESTED until a query decides, and may be repeated', async () => {
      const { gateway, account } = harness();
      const jobId = await accept('HANG');
      await observe(jobId, 'RUNNING');
      expect(await gateway.cancel(account, jobId)).toEqual({ kind: 'REQUESTED' });
      await observe(jobId, 'CANCELED');
      expect(await gateway.cancel(account, jobId)).toEqual({ kind: 'CONFIRMED' });
    });

    it('says that a finished job is finished', async () => {
      const { gateway, account } = harness();
      const jobId = await accept('WELL');
      await observe(jobId, 'SUCCEEDED');
      expect(await gateway.cancel(account, jobId)).toEqual({ kind: 'ALREADY_FINISHED' });
    });

    it('says when the provider cannot cancel, does not know the job, or does not answer', async () => {
      const { gateway, account } = harness();
      const jobId = await accept('CANCEL_REFUSED');
      await observe(jobId, 'RUNNING');
      expect(await gateway.cancel(account, jobId)).toEqual({ kind: 'UNSUPPORTED' });
      expect(await gateway.cancel(account, 'vid_unknown')).toEqual({ kind: 'NOT_FOUND' });
      const dead = { ...account, baseUrl: 'http://127.0.0.1:9' };
      expect(await gateway.cancel(dead, jobId)).toMatchObject({ kind: 'UNAVAILABLE' });
    });
  });
}
