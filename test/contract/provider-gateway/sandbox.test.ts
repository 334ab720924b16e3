import { randomUUID } from 'node:crypto';
import { createSandboxGateway } from '../../../src/adapters/provider/sandbox/gateway';
import type { SubmitRequest } from '../../../src/ports/provider-gateway';
import { startCallbackReceiver } from '../../support/callback-receiver';
import { startSandbox } from '../../support/sandbox-process';
import { describeProviderGateway } from './describe-provider-gateway';
import type { Behaviour, GatewayHarness } from './gateway-harness';

const FAULTS: Readonly<Record<Behaviour, Readonly<Record<string, unknown>>>> = {
  WELL: {},
  HANG: { fault: 'hang' },
  ANSWER_LOST: { fault: 'answer_lost' },
  ANSWER_CUT: { fault: 'answer_cut' },
  ANSWER_502: { fault: 'answer_502' },
  ANSWER_504: { fault: 'answer_504' },
  ANSWER_NO_ID: { fault: 'answer_no_id' },
  ANSWER_LATE: { fault: 'slow', slow_ms: 2000 },
  NOT_CREATED_LOST: { fault: 'not_created_lost' },
  REFUSE_400: { fault: 'reject_400' },
  REFUSE_401: { fault: 'reject_401' },
  REFUSE_402: { fault: 'reject_402' },
  REFUSE_422: { fault: 'reject_422' },
  REFUSE_422_CHARGED: { fault: 'reject_422_charged' },
  REFUSE_429: { fault: 'reject_429', retry_after: '7' },
  REFUSE_500: { fault: 'reject_500' },
  REFUSE_503: { fault: 'reject_503' },
  POLLS_500_THREE_TIMES: { fault: 'poll_500' },
  UNKNOWN_STATUS: { fault: 'unknown_status', times: 1 },
  FILTERED: { fault: 'filtered' },
  FAILED_CHARGED: { fault: 'failed_charged' },
  CANCEL_REFUSED: { fault: 'cancel_refused' },
};

async function setup(): Promise<GatewayHarness> {
  const sandbox = await startSandbox({ render: 'instant', concurrency: 50 });
  const receiver = await startCallbackReceiver();
  let now = new Date();
  const gateway = createSandboxGateway({
    connectTimeoutMs: 1000,
    tlsTimeoutMs: 300,
    headersTimeoutMs: 700,
    totalTimeoutMs: 1500,
    clock: { now: () => now },
  });
  const countJobs = async (key: string): Promise<number> =>
    (await sandbox.jobs()).filter((job) => job.request.reference === key).length;
  return {
    gateway,
    account: {
      id: 'main',
      baseUrl: sandbox.url,
      apiKey: sandbox.apiKey,
      webhookSecrets: [sandbox.webhookSecret],
    },
    setNow: (date) => {
      now = date;
    },
    now: () => now,
    request: (behaviour, overrides) => ({
      ...requestTo(receiver.url),
      options: FAULTS[behaviour],
      ...overrides,
    }),
    countPosts: async (key) => (await sandbox.requests()).by_reference[key] ?? 0,
    countJobs,
    callbacksOf: (request) =>
      receiver.received.filter((one) => request.callbackUrl.endsWith(one.path)),
    close: async () => {
      await gateway.close();
      await sandbox.stop();
      await receiver.close();
    },
  };
}

function requestTo(origin: string): SubmitRequest {
  const attemptId = randomUUID();
  return {
    attemptId,
    requestKey: `key-${attemptId}`,
    model: 'sandbox-video-1',
    prompt: 'a red kite over the sea',
    negativePrompt: null,
    seed: 7,
    aspectRatio: '16:9',
    resolution: '720p',
    durationMs: 1000,
    withAudio: true,
    imageUrl: null,
    callbackUrl: `${origin}/callbacks/token-${attemptId}`,
    options: {},
  };
}

describeProviderGateway('sandbox', setup);
