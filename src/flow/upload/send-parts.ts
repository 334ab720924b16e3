import { refuse, type Refusal } from '../../domain/generation/refusals';
import { PARTS_SIGNED_MAX, sizeOfPart, type PartPlan } from '../../domain/output/part-plan';
import type { UploadRefusal } from '../../domain/output/upload-rules';
import type { ObjectStore, UploadTicket } from '../../ports/object-store';
import type { StoredPart } from '../../ports/part-uploads';
import type { FlowContext } from '../flow-context';
import { findPartsUpload, type UploadAddress } from './find-upload';

export interface SignedPart {
  readonly number: number;
  readonly sizeBytes: number;
  readonly ticket: UploadTicket;
}

/** Short-lived URLs for parts of an upload, as often as they are needed: a part that is there keeps. */
export const signParts = async (
  context: FlowContext,
  objects: Pick<ObjectStore, 'parts'>,
  input: UploadAddress & { readonly numbers: readonly number[] },
): Promise<
  { readonly kind: 'SIGNED'; readonly parts: readonly SignedPart[] } | Refusal<UploadRefusal>
> => {
  if (input.numbers.length > PARTS_SIGNED_MAX) {
    const message = `At most ${PARTS_SIGNED_MAX} parts are signed at once.`;
    return refuse('TOO_MANY_PARTS', message, 'partNumbers');
  }
  const upload = await findPartsUpload(context, objects, input);
  if (upload.kind === 'REFUSED') return upload;
  const { plan, session, storeUploadId } = upload;
  const wanted = [...new Set(input.numbers)].map((number) => ({
    number,
    sizeBytes: sizeOfPart(plan, number),
  }));
  if (wanted.length === 0 || wanted.some(({ sizeBytes }) => sizeBytes === null)) {
    const message = `Parts are numbered 1 to ${plan.partCount}.`;
    return refuse('PART_NUMBER_INVALID', message, 'partNumbers');
  }
  const now = context.clock.now();
  const endMs = now.getTime() + context.settings.uploadTicketMs;
  const expiresAt = new Date(Math.min(endMs, session.expiresAt.getTime()));
  const parts = await Promise.all(
    wanted.map(async ({ number, sizeBytes }) => {
      const part = { number, sizeBytes: sizeBytes ?? 0 };
      const { quarantineKey } = session;
      const life = { now, expiresAt };
      const ticket = await objects.parts.presign(quarantineKey, storeUploadId, {
        ...part,
        ...life,
      });
      return { ...part, ticket };
    }),
  );
  return { kind: 'SIGNED', parts };
};

export type ListPartsOutcome =
  | {
      readonly kind: 'LISTED';
      readonly plan: PartPlan;
      readonly parts: readonly StoredPart[];
      /** A complete put them together and died before it was written down: to be completed again, which needs no parts. */
      readonly areJoined: boolean;
      readonly expiresAt: Date;
    }
  | Refusal<UploadRefusal>;

/** What the store has of an upload: a client that was away goes on from there. */
export const listParts = async (
  context: FlowContext,
  objects: Pick<ObjectStore, 'parts' | 'measure'>,
  address: UploadAddress,
): Promise<ListPartsOutcome> => {
  const upload = await findPartsUpload(context, objects, address);
  if (upload.kind === 'REFUSED') return upload;
  const { plan, session, storeUploadId } = upload;
  const { expiresAt, quarantineKey } = session;
  const parts = await objects.parts.list(quarantineKey, storeUploadId);
  const areJoined = parts === null && (await objects.measure(quarantineKey)) !== null;
  return { kind: 'LISTED', plan, parts: parts ?? [], areJoined, expiresAt };
};
