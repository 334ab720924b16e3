import { refuse, type Refusal } from '../generation/refusals';
import type { UploadRefusal } from './upload-rules';

const MIB = 2 ** 20;
/** What S3 demands of every part but the last. */
export const PART_BYTES_MIN = 5 * MIB;
const PART_BYTES_USUAL = 8 * MIB;
/** One PUT that a client can hope to bring to its end. */
export const PART_BYTES_MAX = 512 * MIB;
/** Few enough that all are listed, named and judged in one request. */
export const PARTS_MAX = 1_000;
/** How many URLs are signed in one request. */
export const PARTS_SIGNED_MAX = 100;

/** How a file is cut: parts of one size, numbered from 1, and what is left in the last. */
export interface PartPlan {
  readonly sizeBytes: number;
  readonly partSizeBytes: number;
  readonly partCount: number;
}

export const planOf = (sizeBytes: number, partSizeBytes: number): PartPlan => ({
  sizeBytes,
  partSizeBytes,
  partCount: Math.ceil(sizeBytes / partSizeBytes),
});

/** @param askedBytes the size that the client would like; null: the usual one, larger for what would have too many parts */
export const planParts = (
  sizeBytes: number,
  askedBytes: number | null,
): { readonly kind: 'PLANNED'; readonly plan: PartPlan } | Refusal<UploadRefusal> => {
  const leastBytes = Math.ceil(sizeBytes / PARTS_MAX / MIB) * MIB;
  const partSizeBytes = askedBytes ?? Math.max(PART_BYTES_USUAL, leastBytes);
  const isWhole = Number.isSafeInteger(partSizeBytes);
  if (!isWhole || partSizeBytes < PART_BYTES_MIN || partSizeBytes > PART_BYTES_MAX) {
    const bounds = `${PART_BYTES_MIN} to ${PART_BYTES_MAX}`;
    return refuse('PART_SIZE_INVALID', `A part has ${bounds} bytes.`, 'partSizeBytes');
  }
  const plan = planOf(sizeBytes, partSizeBytes);
  return plan.partCount > PARTS_MAX
    ? refuse('TOO_MANY_PARTS', `A file has at most ${PARTS_MAX} parts.`, 'partSizeBytes')
    : { kind: 'PLANNED', plan };
};

/** Null for a number that is no part of the plan. */
export const sizeOfPart = (plan: PartPlan, number: number): number | null => {
  if (!Number.isInteger(number) || number < 1 || number > plan.partCount) return null;
  const startBytes = (number - 1) * plan.partSizeBytes;
  return Math.min(plan.partSizeBytes, plan.sizeBytes - startBytes);
};

interface Part {
  readonly number: number;
  readonly etag: string;
}

/**
 * Whether the parts that a client names are all of the plan, and the ones that are stored, in their right sizes. Answers them in
 * order, with the ETags of the store.
 */
export const judgeParts = (
  plan: PartPlan,
  named: readonly Part[],
  stored: readonly (Part & { readonly sizeBytes: number })[],
): { readonly kind: 'COMPLETE'; readonly parts: readonly Part[] } | Refusal<UploadRefusal> => {
  const refused = (code: UploadRefusal, message: string): Refusal<UploadRefusal> =>
    refuse(code, message, 'parts');
  const namedBy = new Map(named.map((part) => [part.number, part]));
  const storedBy = new Map(stored.map((part) => [part.number, part]));
  const stranger = named.find((part) => sizeOfPart(plan, part.number) === null);
  if (stranger !== undefined || namedBy.size < named.length) {
    const bounds = `Name each of the parts 1 to ${plan.partCount} once.`;
    return refused('PART_NUMBER_INVALID', bounds);
  }
  const parts: Part[] = [];
  for (let number = 1; number <= plan.partCount; number += 1) {
    const claim = namedBy.get(number);
    const found = storedBy.get(number);
    if (claim === undefined) return refused('PART_MISSING', `Part ${number} is not named.`);
    if (found === undefined) return refused('PART_MISSING', `Part ${number} has not arrived.`);
    const sizeBytes = sizeOfPart(plan, number) ?? 0;
    if (found.sizeBytes !== sizeBytes) {
      const code = found.sizeBytes < sizeBytes ? 'PART_TOO_SMALL' : 'PART_TOO_LARGE';
      return refused(code, `Part ${number} has ${found.sizeBytes} bytes, not ${sizeBytes}.`);
    }
    if (bare(claim.etag) !== bare(found.etag)) {
      return refused('PART_ETAG_MISMATCH', `Part ${number} is not the one with that ETag.`);
    }
    parts.push({ number, etag: found.etag });
  }
  return { kind: 'COMPLETE', parts };
};

/** Clients read ETags with their quotes or without. */
const bare = (etag: string): string => etag.replace(/^"|"$/g, '');
