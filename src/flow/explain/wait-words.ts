import { assertNever } from '../../domain/kernel/assert-never';
import type { LimitVerdict } from '../../domain/scheduling/place-in-line';

export type WaitReason =
  | 'REVIEW'
  | 'RETRY_WAIT'
  | 'TENANT_PAUSED'
  | 'PROVIDER_PAUSED'
  | 'CIRCUIT_OPEN'
  | 'SLOTS_UNAVAILABLE'
  | 'LIMIT_REACHED'
  | 'IN_LINE';

export interface Wait {
  readonly reason: WaitReason;
  readonly text: string;
  readonly since: Date;
  /** Not before this, where a pause was set. */
  readonly until: Date | null;
  readonly limit: LimitVerdict | null;
  readonly position: number | null;
  readonly estimateMs: number | null;
}

/** As “tenant limit 5 of 5, third in line, about 40 s”. */
export const waitInWords = (wait: Omit<Wait, 'text' | 'since'>, now: Date): string => {
  const until =
    wait.until === null ? '' : `, for ${duration(wait.until.getTime() - now.getTime())}`;
  switch (wait.reason) {
    case 'REVIEW':
      return 'a person looks at the prompt';
    case 'RETRY_WAIT':
      return `pause before another try${until}`;
    case 'TENANT_PAUSED':
      return 'the account is paused by the operator';
    case 'PROVIDER_PAUSED':
      return 'the provider takes no new jobs';
    case 'CIRCUIT_OPEN':
      return `the provider failed too often: nothing new is sent to it${until}`;
    case 'SLOTS_UNAVAILABLE':
      return 'places cannot be counted at present: nothing new is sent until they can';
    case 'LIMIT_REACHED':
      return wait.limit === null ? 'a limit is reached' : limitInWords(wait.limit, wait.estimateMs);
    case 'IN_LINE':
      return wait.position === null ? 'it is looked at next' : inLine(wait.position);
    default:
      return assertNever(wait.reason, 'wait reason');
  }
};

const limitInWords = (limit: LimitVerdict, estimateMs: number | null): string =>
  [
    `${limit.name.toLowerCase()} limit ${limit.used} of ${limit.max}`,
    inLine(limit.position),
    ...(estimateMs === null ? [] : [`about ${duration(estimateMs)}`]),
  ].join(', ');

const SMALL = ['next', 'second', 'third', 'fourth', 'fifth'];

const inLine = (position: number): string => `${SMALL[position - 1] ?? ordinal(position)} in line`;

const ordinal = (n: number): string => {
  const ending = n % 100 > 10 && n % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th');
  return `${n}${ending}`;
};

const duration = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
};
