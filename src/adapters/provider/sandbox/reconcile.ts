import type { ReconcileOutcome } from '../../../domain/provider/vocabulary';
import type { AttemptFingerprint } from '../../../ports/provider-gateway';
import { listSchema, observeJob } from './wire';
import type { WireJob } from './wire';

/** One page of the provider's list, newest first, or why it could not be had. */
export type ListPage =
  | { readonly kind: 'PAGE'; readonly body: unknown }
  | { readonly kind: 'UNAVAILABLE'; readonly retryAfterMs: number | null; readonly code: string };

export interface ReconcileRules {
  /** How long after the submit an entry may still be on its way into the list. */
  readonly settleMs: number;
  /** How far the provider's clock may be behind ours. */
  readonly skewMs: number;
  readonly pagesMax: number;
}

/**
 * Walks the list back past the time of the submit and matches on the request key and the callback URL,
 * both of which every row carries. ABSENT is said only when the list was read back far enough and the
 * submit is old enough to be in it.
 */
export async function reconcileByList(
  attempt: AttemptFingerprint,
  now: Date,
  rules: ReconcileRules,
  readPage: (after: string | null) => Promise<ListPage>,
): Promise<ReconcileOutcome> {
  const walked = await walkList(attempt.sentSince ?? attempt.submittedAt, rules, readPage);
  if (walked.kind === 'TOO_LONG') {
    return { kind: 'UNDECIDABLE', reason: `the list is longer than ${rules.pagesMax} pages` };
  }
  if (walked.kind === 'UNAVAILABLE') return walked;
  const matches = walked.jobs.filter((job) => isOurs(job, attempt));
  return decide(matches, attempt, now, rules);
}

type Walked =
  | { readonly kind: 'JOBS'; readonly jobs: readonly WireJob[] }
  | { readonly kind: 'TOO_LONG' }
  | Extract<ListPage, { kind: 'UNAVAILABLE' }>;

/** Every job made since, and some older ones: the provider's clock may be behind ours. */
export async function walkList(
  since: Date,
  rules: Pick<ReconcileRules, 'skewMs' | 'pagesMax'>,
  readPage: (after: string | null) => Promise<ListPage>,
): Promise<Walked> {
  const oldestMs = since.getTime() - rules.skewMs;
  const jobs: WireJob[] = [];
  let after: string | null = null;
  for (let page = 0; page < rules.pagesMax; page += 1) {
    const answer = await readPage(after);
    if (answer.kind === 'UNAVAILABLE') return answer;
    const list = listSchema.safeParse(answer.body).data;
    if (!list) return { kind: 'UNAVAILABLE', retryAfterMs: null, code: 'MALFORMED_LIST' };
    jobs.push(...list.data);
    const isBackFarEnough = list.data.some((job) => Date.parse(job.created_at) < oldestMs);
    if (!list.has_more || isBackFarEnough) return { kind: 'JOBS', jobs };
    after = list.last_id;
  }
  return { kind: 'TOO_LONG' };
}

function decide(
  matches: readonly WireJob[],
  attempt: AttemptFingerprint,
  now: Date,
  rules: ReconcileRules,
): ReconcileOutcome {
  const [job, ...others] = matches;
  if (others.length > 0) {
    return { kind: 'UNDECIDABLE', reason: `${matches.length} jobs carry this request key` };
  }
  if (job) return { kind: 'FOUND', observation: observeJob(job), raw: job };
  const waitMs = attempt.submittedAt.getTime() + rules.settleMs - now.getTime();
  // A request on its way when we looked would be taken for one that never was, and be paid twice.
  if (waitMs > 0) return { kind: 'UNAVAILABLE', retryAfterMs: waitMs, code: 'LIST_NOT_SETTLED' };
  return { kind: 'ABSENT' };
}

function isOurs(job: WireJob, attempt: AttemptFingerprint): boolean {
  return job.reference === attempt.requestKey || job.callback_url === attempt.callbackUrl;
}
