import type { AttemptFingerprint, SubmitRequest } from '../../../src/ports/provider-gateway';
import type { Behaviour, GatewayHarness } from './gateway-harness';

const ACCEPTED_BUT_UNKNOWN: readonly Behaviour[] = [
  'ANSWER_LOST',
  'ANSWER_CUT',
  'ANSWER_502',
  'ANSWER_504',
  'ANSWER_NO_ID',
  'ANSWER_LATE',
];

const HOUR_MS = 3_600_000;

export function describeReconciliation(harness: () => GatewayHarness): void {
  describe('reconcile', () => {
    it.each(ACCEPTED_BUT_UNKNOWN)('finds the job after %s', async (behaviour) => {
      const { gateway, account, request, now } = harness();
      const sent = request(behaviour);
      const submittedAt = now();
      await gateway.submit(account, sent);
      const outcome = await gateway.reconcile(account, fingerprintOf(sent, submittedAt));
      expect(outcome).toMatchObject({
        kind: 'FOUND',
        observation: { echoedRequestKey: sent.requestKey },
      });
      expect(JSON.stringify(outcome.kind === 'FOUND' && outcome.raw)).not.toMatch(/sig=|token-/);
    });

    it('says ABSENT for a request that made no job, and only once the list has settled', async () => {
      const { gateway, account, request, now, setNow } = harness();
      const sent = request('NOT_CREATED_LOST');
      const submittedAt = now();
      expect(await gateway.submit(account, sent)).toMatchObject({ kind: 'UNKNOWN' });
      const fingerprint = fingerprintOf(sent, submittedAt);
      const early = await gateway.reconcile(account, fingerprint);
      expect(early).toMatchObject({ kind: 'UNAVAILABLE', code: 'LIST_NOT_SETTLED' });
      setNow(new Date(submittedAt.getTime() + HOUR_MS));
      expect(await gateway.reconcile(account, fingerprint)).toEqual({ kind: 'ABSENT' });
      setNow(submittedAt);
    });

    it('finds a job behind more than one page of newer ones', async () => {
      const { gateway, account, request, now } = harness();
      const sent = request('ANSWER_LOST');
      const submittedAt = now();
      await gateway.submit(account, sent);
      for (let batch = 0; batch < 7; batch += 1) {
        await Promise.all(
          Array.from({ length: 15 }, () => gateway.submit(account, request('WELL'))),
        );
      }
      const outcome = await gateway.reconcile(account, fingerprintOf(sent, submittedAt));
      expect(outcome).toMatchObject({ kind: 'FOUND' });
    });

    it('does not decide between two jobs of one key', async () => {
      const { gateway, account, request, now } = harness();
      const sent = request('WELL');
      const submittedAt = now();
      await gateway.submit(account, sent);
      await gateway.submit(account, sent);
      const outcome = await gateway.reconcile(account, fingerprintOf(sent, submittedAt));
      expect(outcome).toMatchObject({ kind: 'UNDECIDABLE' });
    });

    it('says UNAVAILABLE, not ABSENT, when the list cannot be read', async () => {
      const { gateway, account, request, now } = harness();
      const longAgo = new Date(now().getTime() - HOUR_MS);
      const fingerprint = fingerprintOf(request('WELL'), longAgo);
      const dead = { ...account, baseUrl: 'http://127.0.0.1:9' };
      expect(await gateway.reconcile(dead, fingerprint)).toMatchObject({ kind: 'UNAVAILABLE' });
      const stranger = { ...account, apiKey: 'wrong' };
      expect(await gateway.reconcile(stranger, fingerprint)).toMatchObject({
        kind: 'UNAVAILABLE',
        code: 'HTTP_401',
      });
    });
  });
}

function fingerprintOf(request: SubmitRequest, submittedAt: Date): AttemptFingerprint {
  return { requestKey: request.requestKey, callbackUrl: request.callbackUrl, submittedAt };
}
