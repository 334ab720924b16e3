import { lookup } from 'node:dns/promises';
import type { Clock } from '../../ports/clock';
import type { OutputOpening, OutputSource } from '../../ports/output-source';
import { judgeTarget, type Resolver, type Target, type TargetRules } from './judge-target';
import { openHop, type Connector, type Hop, type HopLimits } from './open-hop';
import { readAnswer, textOf, type Answer } from './read-answer';

export interface GuardedFetcherOptions {
  readonly clock: Clock;
  /** Exact `host:port` pairs that may be plain http on this machine or its private network; empty in production. */
  readonly insecureLocalHosts: readonly string[];
  readonly connectTimeoutMs?: number;
  readonly idleTimeoutMs?: number;
  readonly totalTimeoutMs?: number;
  readonly redirectsMax?: number;
  /** Names to addresses; the system's resolver by default. */
  readonly resolve?: Resolver;
  /** Connects to the judged address; TCP and TLS by default. */
  readonly connect?: Connector;
}

type OpenOptions = Parameters<OutputSource['open']>[1];

const DEFAULTS = {
  connectTimeoutMs: 10_000,
  idleTimeoutMs: 30_000,
  totalTimeoutMs: 900_000,
  redirectsMax: 3,
} as const;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** The output source on HTTP; the contract is at the port. */
export function createGuardedFetcher(options: GuardedFetcherOptions): OutputSource {
  const settings = { ...DEFAULTS, resolve: resolveBySystem, ...options };
  return {
    open: async (url, openOptions) => {
      openOptions.signal?.throwIfAborted();
      const total = AbortSignal.timeout(settings.totalTimeoutMs);
      const signal = openOptions.signal ? AbortSignal.any([openOptions.signal, total]) : total;
      const fetching = { settings, openOptions, signal };
      const first = await followTo(fetching, url, openOptions.rangeStart ?? 0);
      if (first.kind !== 'RESTART') return first;
      const whole = await followTo(fetching, url, 0);
      return whole.kind === 'RESTART' ? unavailable('the whole output cannot be had') : whole;
    },
  };
}

interface Fetching {
  readonly settings: Required<Omit<GuardedFetcherOptions, 'connect'>> &
    Pick<GuardedFetcherOptions, 'connect'>;
  readonly openOptions: OpenOptions;
  /** Of the caller, and of the limit on total time. */
  readonly signal: AbortSignal;
}

/** Goes from redirect to redirect; each is judged as if it were the first URL. */
async function followTo(fetching: Fetching, url: string, rangeStart: number): Promise<Answer> {
  const { settings, openOptions } = fetching;
  const { insecureLocalHosts } = settings;
  const rules: TargetRules = {
    allowedHosts: openOptions.allowedHosts,
    insecureLocalHosts,
    resolve: (hostname) => untilAborted(settings.resolve(hostname), fetching.signal),
  };
  let next = url;
  let base: URL | undefined;
  for (let redirects = 0; redirects <= settings.redirectsMax; redirects += 1) {
    const judged = await judgeTarget(next, base, rules);
    openOptions.signal?.throwIfAborted();
    if (judged.kind === 'REFUSED') return judged;
    if (judged.kind === 'UNRESOLVED') return unavailable(judged.detail);
    const host = judged.target.url.hostname;
    const hop = await tryHop(fetching, judged.target, rangeStart);
    if ('kind' in hop) return hop;
    const location = textOf(hop.answer.headers['location']);
    if (!REDIRECTS.has(hop.answer.statusCode) || location === undefined) {
      return readAnswer(hop, {
        ...{ host, rangeStart, signal: openOptions.signal },
        sizeBytesMax: openOptions.sizeBytesMax,
        rangeEnd: openOptions.rangeEnd,
        ifRangeEtag: openOptions.ifRangeEtag,
        nowMs: settings.clock.now().getTime(),
      });
    }
    hop.close();
    base = judged.target.url;
    next = location;
  }
  const detail = `more than ${settings.redirectsMax} redirects`;
  return { kind: 'REFUSED', reason: 'TOO_MANY_REDIRECTS', detail };
}

async function tryHop(
  fetching: Fetching,
  target: Target,
  rangeStart: number,
): Promise<Hop | OutputOpening> {
  const { settings, openOptions, signal } = fetching;
  const limits: HopLimits = settings;
  const headers = rangeHeaders(rangeStart, openOptions);
  try {
    return await openHop(target, { method: 'GET', headers, signal }, limits, settings.connect);
  } catch (error) {
    openOptions.signal?.throwIfAborted();
    return unavailable(`${target.url.hostname}: ${describe(error)}`);
  }
}

function rangeHeaders(
  rangeStart: number,
  { rangeEnd, ifRangeEtag: etag }: OpenOptions,
): Record<string, string> {
  return {
    accept: '*/*',
    'accept-encoding': 'identity',
    ...(rangeStart > 0 ? { range: `bytes=${rangeStart}-${rangeEnd ?? ''}` } : {}),
    // Only a strong ETag may stand in If-Range; a weak one is compared after the answer.
    ...(rangeStart > 0 && etag?.startsWith('"') ? { 'if-range': etag } : {}),
  };
}

function unavailable(detail: string): Extract<OutputOpening, { kind: 'UNAVAILABLE' }> {
  return { kind: 'UNAVAILABLE', retryAfterMs: null, detail };
}

/** The code says enough, and a message could quote the URL. */
function describe(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return String(code ?? name);
}

async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  const found = await lookup(hostname, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

/** The system's resolver cannot be stopped; its answer is just no longer waited for. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
