import type { AttemptStatus } from '../attempt/statuses';
import { assertNever } from '../kernel/assert-never';
import { isSameCharge } from '../provider/charge';
import type {
  InvoiceCause,
  InvoiceClass,
  InvoicedAttempt,
  InvoiceFacts,
  InvoiceLine,
  InvoiceVerdict,
} from './invoice';
import { costToMicros, rateOf } from './pricing';

type Found = readonly [InvoiceClass, InvoiceCause];

/**
 * What each line of an invoice is, in the order of the lines. A job is the key; where a line names none, as for a refusal
 * that was charged, or one that no attempt knows, as that of a submit whose answer was lost, the reference that we gave
 * is. Of several charges for one attempt the first counts.
 */
export const matchInvoice = (
  lines: readonly InvoiceLine[],
  facts: InvoiceFacts,
): InvoiceVerdict[] => {
  const byJob = new Map(facts.attempts.map((attempt) => [attempt.jobId, attempt]));
  const byReference = new Map(facts.attempts.map((attempt) => [attempt.requestKey, attempt]));
  const seen = new Set(facts.seenKeys);
  const charged = new Set(facts.chargedBefore);
  return lines.map((line) => {
    const attempt =
      (line.jobId === null ? undefined : byJob.get(line.jobId)) ??
      byReference.get(line.reference ?? '') ??
      null;
    const [found, cause] = judge(line, attempt, seen, charged);
    seen.add(line.key);
    const subject = attempt?.id ?? line.jobId;
    if (subject !== null) charged.add(subject);
    return { line, class: found, cause, attempt };
  });
};

const judge = (
  line: InvoiceLine,
  attempt: InvoicedAttempt | null,
  seen: ReadonlySet<string>,
  charged: ReadonlySet<string>,
): Found => {
  if (seen.has(line.key)) return ['DUPLICATE', 'ITEM_SEEN_BEFORE'];
  const subject = attempt?.id ?? line.jobId;
  if (subject !== null && charged.has(subject)) return ['DUPLICATE', 'CHARGED_TWICE'];
  if (attempt !== null) return compare(line, attempt);
  if (line.jobId !== null) return ['ORPHAN', 'JOB_UNKNOWN'];
  return ['ORPHAN', line.reference === null ? 'NOTHING_NAMED' : 'REFERENCE_UNKNOWN'];
};

const compare = (line: InvoiceLine, { booked, status }: InvoicedAttempt): Found => {
  if (booked === null)
    return line.costMicros === 0n ? ['MATCHED', 'EQUAL'] : ['LATE', lateCause(status)];
  if (isSameCharge(booked, line)) return ['MATCHED', 'EQUAL'];
  if (booked.currency !== line.currency) return ['PRICE_DIFFERENCE', 'OTHER_CURRENCY'];
  const rateMicros = rateOf(booked.currency) ?? 0n;
  return [
    'PRICE_DIFFERENCE',
    line.costMicros > costToMicros(booked.amount, rateMicros) ? 'ABOVE_BOOKED' : 'BELOW_BOOKED',
  ];
};

/** How it came that a charge was never told. */
const lateCause = (status: AttemptStatus): InvoiceCause => {
  switch (status) {
    case 'FAILED_BEFORE_ACCEPT':
      return 'NEVER_ACCEPTED';
    case 'ABANDONED':
      return 'GIVEN_UP';
    case 'NEW':
    case 'SENDING':
    case 'UNKNOWN':
    case 'ACKED':
    case 'RUNNING':
      return 'STILL_OPEN';
    case 'SUCCEEDED':
    case 'FAILED':
    case 'CANCELED':
      return 'ENDED_WITHOUT_CHARGE';
    default:
      return assertNever(status, 'attempt status');
  }
};
