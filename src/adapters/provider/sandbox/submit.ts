import type {
  AmbiguousPhase,
  ProviderFailure,
  SubmitOutcome,
} from '../../../domain/provider/vocabulary';
import type { ProviderAccount, SubmitRequest } from '../../../ports/provider-gateway';
import type { Exchange } from '../http/exchange';
import { digestText } from '../http/redaction';
import { readRetryAfterMs } from '../http/retry-after';
import { acceptedSchema, errorSchema, parseJson } from './wire';

type Answer = Extract<Exchange, { kind: 'ANSWERED' }>;

/** What the end of the one POST means for the attempt. */
export function judgeSubmit(
  exchange: Exchange,
  account: ProviderAccount,
  request: SubmitRequest,
  now: Date,
): SubmitOutcome {
  const secrets = secretsOf(account, request);
  switch (exchange.kind) {
    case 'NOT_SENT':
      return {
        kind: 'REJECTED',
        failure: 'CONNECT_FAILED',
        retryable: true,
        retryAfterMs: null,
        code: exchange.code,
        charge: null,
        digest: digestText(`not sent: ${exchange.code}`, secrets),
      };
    case 'NO_ANSWER':
      return {
        kind: 'UNKNOWN',
        phase: exchange.isTimeout ? 'HEADERS_TIMEOUT' : 'AFTER_WRITE',
        digest: digestText(`no answer: ${exchange.code}`, secrets),
      };
    case 'BODY_CUT':
      return {
        kind: 'UNKNOWN',
        phase: 'BODY_CUT',
        digest: digestText(`HTTP ${exchange.status}, body cut: ${exchange.code}`, secrets),
      };
    case 'ANSWERED':
      return judgeAnswer(exchange, secrets, now);
  }
}

function judgeAnswer(answer: Answer, secrets: readonly string[], now: Date): SubmitOutcome {
  const text = `HTTP ${answer.status} ${answer.body.toString('utf8')}`;
  const digest = digestText(text, secrets);
  const phase = ambiguousPhaseOf(answer.status);
  if (phase !== null) return { kind: 'UNKNOWN', phase, digest };
  const body = parseJson(answer.body);
  if (answer.status < 300) {
    const accepted = acceptedSchema.safeParse(body);
    return accepted.success
      ? { kind: 'ACCEPTED', jobId: accepted.data.id, digest }
      : { kind: 'UNKNOWN', phase: 'NO_JOB_ID', digest };
  }
  const error = errorSchema.safeParse(body).data;
  const code = error?.error.code ?? `HTTP_${answer.status}`;
  const charge = error?.cost ?? null;
  return {
    kind: 'REJECTED',
    failure: rejectionOf(answer.status, code),
    // A refusal that was paid for is not repeated: it would be paid for again.
    retryable: charge === null && isRetryable(answer.status),
    retryAfterMs: readRetryAfterMs(answer.headers, now),
    code,
    charge,
    digest,
  };
}

/** A redirect may stand for an accepted job; of the 5xx only 500 and 503 are the provider's own "no". */
function ambiguousPhaseOf(status: number): AmbiguousPhase | null {
  if (status >= 300 && status < 400) return 'NO_JOB_ID';
  if (status < 500 || status === 500 || status === 503) return null;
  return status === 504 || status === 524 ? 'GATEWAY_504' : 'GATEWAY_502';
}

function rejectionOf(status: number, code: string): ProviderFailure {
  switch (status) {
    case 401:
    case 403:
      return 'PROVIDER_AUTH';
    case 402:
      return 'PROVIDER_FUNDS';
    case 429:
      return 'THROTTLED';
    case 500:
      return 'PROVIDER_INTERNAL';
    case 408:
    case 503:
      return 'PROVIDER_UNAVAILABLE';
    default:
      return code === 'content_policy' ? 'POLICY_REJECTED' : 'INPUT_REJECTED';
  }
}

function isRetryable(status: number): boolean {
  return [401, 402, 403, 408, 429, 500, 503].includes(status);
}

function secretsOf(account: ProviderAccount, request: SubmitRequest): string[] {
  const urls = [request.callbackUrl, request.imageUrl ?? ''];
  return [account.apiKey, ...account.webhookSecrets, ...urls];
}
