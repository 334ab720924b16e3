import { Agent } from 'undici';
import type { CancelOutcome, QueryOutcome } from '../../../domain/provider/vocabulary';
import type { Clock } from '../../../ports/clock';
import type {
  AttemptFingerprint,
  CallbackVerdict,
  ListOutcome,
  ProviderAccount,
  ProviderGateway,
  SubmitRequest,
} from '../../../ports/provider-gateway';
import { performExchange } from '../http/exchange';
import type { Exchange } from '../http/exchange';
import { postOnce } from '../http/one-shot-post';
import { buildPhasedConnector } from '../http/phased-connector';
import { redactValue } from '../http/redaction';
import { readRetryAfterMs } from '../http/retry-after';
import { verifyStandardWebhook } from '../http/standard-webhooks';
import { reconcileByList, walkList } from './reconcile';
import type { ListPage } from './reconcile';
import { judgeSubmit } from './submit';
import {
  callbackSchema,
  cancelSchema,
  encodeSubmit,
  errorSchema,
  jobSchema,
  observeJob,
  parseJson,
} from './wire';

export interface SandboxGatewayOptions {
  readonly connectTimeoutMs: number;
  readonly tlsTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly totalTimeoutMs: number;
  readonly clock: Clock;
  /** Age of a submit before its absence from the list is believed; 2,000 by default. */
  readonly listSettleMs?: number;
  /** Pages of 100 jobs that a reconciliation reads before it gives up; 100 by default. */
  readonly listPagesMax?: number;
}

const LIST_SETTLE_MS = 2_000;
const LIST_PAGES_MAX = 100;
const CLOCK_SKEW_MS = 300_000;
const CONNECTIONS_PER_ACCOUNT_MAX = 32;

/** The sandbox provider behind the provider-gateway port. `close` ends its idle connections. */
export function createSandboxGateway(
  options: SandboxGatewayOptions,
): ProviderGateway & { close(): Promise<void> } {
  return new SandboxGateway(options);
}

type Unavailable = Extract<QueryOutcome, { kind: 'UNAVAILABLE' }>;

class SandboxGateway implements ProviderGateway {
  private readonly agent: Agent;

  constructor(private readonly options: SandboxGatewayOptions) {
    this.agent = new Agent({
      connect: buildPhasedConnector(options),
      connections: CONNECTIONS_PER_ACCOUNT_MAX,
    });
  }

  async submit(account: ProviderAccount, request: SubmitRequest) {
    const url = `${account.baseUrl}/v1/videos`;
    const exchange = await postOnce(
      url,
      authorizationOf(account),
      encodeSubmit(request),
      this.options,
    );
    return judgeSubmit(exchange, account, request, this.options.clock.now());
  }

  async query(account: ProviderAccount, jobId: string): Promise<QueryOutcome> {
    const exchange = await this.call(account, 'GET', `/v1/videos/${encodeURIComponent(jobId)}`);
    if (exchange.kind !== 'ANSWERED') return this.unavailable(exchange);
    if (exchange.status === 404) return { kind: 'NOT_FOUND' };
    if (exchange.status !== 200) return this.unavailable(exchange);
    const raw = parseJson(exchange.body);
    const job = jobSchema.safeParse(raw).data;
    if (!job || job.id !== jobId) {
      return { kind: 'UNAVAILABLE', retryAfterMs: null, code: 'MALFORMED_BODY' };
    }
    return { kind: 'FOUND', observation: observeJob(job), raw: redactRaw(account, raw) };
  }

  async cancel(account: ProviderAccount, jobId: string): Promise<CancelOutcome> {
    const path = `/v1/videos/${encodeURIComponent(jobId)}/cancel`;
    const exchange = await this.call(account, 'POST', path);
    if (exchange.kind !== 'ANSWERED') return this.unavailable(exchange);
    if (exchange.status === 404) return { kind: 'NOT_FOUND' };
    const body = parseJson(exchange.body);
    if (exchange.status === 409) return judgeRefusedCancel(body);
    if (exchange.status < 200 || exchange.status > 299) return this.unavailable(exchange);
    const isCanceled = cancelSchema.safeParse(body).data?.status === 'canceled';
    return { kind: isCanceled ? 'CONFIRMED' : 'REQUESTED' };
  }

  async reconcile(account: ProviderAccount, attempt: AttemptFingerprint) {
    const outcome = await reconcileByList(
      attempt,
      this.options.clock.now(),
      this.listRules(),
      (after) => this.readListPage(account, after),
    );
    if (outcome.kind !== 'FOUND') return outcome;
    return { ...outcome, raw: redactRaw(account, outcome.raw) };
  }

  async list(account: ProviderAccount, since: Date): Promise<ListOutcome> {
    const walked = await walkList(since, this.listRules(), (after) =>
      this.readListPage(account, after),
    );
    if (walked.kind === 'UNAVAILABLE') return walked;
    if (walked.kind === 'TOO_LONG') {
      return { kind: 'UNAVAILABLE', retryAfterMs: null, code: 'LIST_TOO_LONG' };
    }
    const jobs = walked.jobs.map((job) => ({
      observation: observeJob(job),
      createdAt: new Date(job.created_at),
    }));
    return { kind: 'LISTED', jobs: jobs.filter(({ createdAt }) => createdAt >= since) };
  }

  private listRules() {
    return {
      settleMs: this.options.listSettleMs ?? LIST_SETTLE_MS,
      skewMs: CLOCK_SKEW_MS,
      pagesMax: this.options.listPagesMax ?? LIST_PAGES_MAX,
    };
  }

  verifyCallback(
    account: ProviderAccount,
    request: {
      readonly headers: Readonly<Record<string, string>>;
      readonly rawBody: Buffer;
      readonly now: Date;
    },
  ): CallbackVerdict {
    const { headers, rawBody, now } = request;
    const verdict = verifyStandardWebhook(headers, rawBody, account.webhookSecrets, now);
    if (!verdict.ok) return verdict;
    const event = callbackSchema.safeParse(parseJson(rawBody)).data;
    if (!event) return { ok: false, reason: 'MALFORMED' };
    return { ok: true, sourceEventId: verdict.webhookId, observation: observeJob(event.data) };
  }

  async close(): Promise<void> {
    await this.agent.close();
  }

  private async readListPage(account: ProviderAccount, after: string | null): Promise<ListPage> {
    const query = new URLSearchParams({ order: 'desc', limit: '100', ...(after && { after }) });
    const exchange = await this.call(account, 'GET', `/v1/videos?${query.toString()}`);
    if (exchange.kind !== 'ANSWERED' || exchange.status !== 200) return this.unavailable(exchange);
    return { kind: 'PAGE', body: parseJson(exchange.body) };
  }

  private call(account: ProviderAccount, method: 'GET' | 'POST', path: string): Promise<Exchange> {
    const base = URL.canParse(account.baseUrl) ? new URL(account.baseUrl) : null;
    if (!base) return Promise.resolve({ kind: 'NOT_SENT', code: 'INVALID_URL' });
    return performExchange(
      this.agent,
      base.origin,
      {
        method,
        path: base.pathname.replace(/\/$/, '') + path,
        headers: authorizationOf(account),
        body: null,
      },
      this.options,
    );
  }

  private unavailable(exchange: Exchange): Unavailable {
    if (exchange.kind !== 'ANSWERED') {
      return { kind: 'UNAVAILABLE', retryAfterMs: null, code: exchange.code };
    }
    const retryAfterMs = readRetryAfterMs(exchange.headers, this.options.clock.now());
    return { kind: 'UNAVAILABLE', retryAfterMs, code: `HTTP_${exchange.status}` };
  }
}

/** A repeat of a cancel that already took effect is told as a refusal too; it is a confirmation. */
function judgeRefusedCancel(body: unknown): CancelOutcome {
  const answer = errorSchema.safeParse(body).data;
  if (answer?.error.code !== 'already_completed') return { kind: 'UNSUPPORTED' };
  return { kind: answer.status === 'canceled' ? 'CONFIRMED' : 'ALREADY_FINISHED' };
}

function authorizationOf(account: ProviderAccount): Record<string, string> {
  return { authorization: `Bearer ${account.apiKey}` };
}

/** The callback URL carries the attempt's token wherever in it; it is left out as a whole. */
function redactRaw(account: ProviderAccount, raw: unknown): unknown {
  const { callback_url: callbackUrl, ...rest } = raw as { callback_url?: unknown };
  const secrets = [account.apiKey, ...(typeof callbackUrl === 'string' ? [callbackUrl] : [])];
  return redactValue(rest, secrets);
}
