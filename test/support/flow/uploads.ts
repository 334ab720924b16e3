import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import type { Asset } from '../../../src/domain/output/asset';
import {
  completeUpload,
  type CompleteUploadOutcome,
} from '../../../src/flow/upload/complete-upload';
import { createUpload, type CreateUploadOutcome } from '../../../src/flow/upload/create-upload';
import { listParts, signParts } from '../../../src/flow/upload/send-parts';
import type { UploadTicket } from '../../../src/ports/object-store';
import type { NamedPart } from '../../../src/ports/part-uploads';
import type { Flow } from '../flow-harness';
import { makeClip } from '../media-fixtures';

export const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

export const makePicture = async (): Promise<Buffer> =>
  readFile(
    await makeClip({
      video: 'testsrc2=s=128x72:r=1:d=1',
      options: ['-frames:v', '1'],
      extension: 'png',
    }),
  );

export interface UploadClaim {
  readonly tenantId?: string;
  readonly fileName?: string;
  readonly contentType?: string;
  readonly sizeBytes?: number;
  readonly sha256?: string;
  readonly partSizeBytes?: number | null;
}

export const tryOpenUpload = (
  flow: Flow,
  bytes: Buffer,
  claim: UploadClaim = {},
): Promise<CreateUploadOutcome> =>
  createUpload(flow.context, flow.objectServer.store, {
    tenantId: flow.tenantId,
    projectId: null,
    fileName: 'picture.png',
    contentType: 'image/png',
    sizeBytes: bytes.length,
    sha256: digestOf(bytes),
    method: claim.partSizeBytes === undefined ? 'PUT' : 'PARTS',
    partSizeBytes: null,
    ...claim,
  });

export const openUpload = async (
  flow: Flow,
  bytes: Buffer,
  claim: UploadClaim = {},
): Promise<{ assetId: string; ticket: UploadTicket }> => {
  const opened = await tryOpenUpload(flow, bytes, claim);
  if (opened.kind !== 'OPENED') throw new Error(`not opened: ${opened.code}`);
  if (opened.opened.method !== 'PUT') throw new Error('opened in parts');
  return { assetId: opened.asset.id, ticket: opened.opened.ticket };
};

/** Opened in parts of this size; answers the asset. */
export const openParts = async (
  flow: Flow,
  bytes: Buffer,
  claim: UploadClaim & { readonly partSizeBytes: number | null },
): Promise<string> => {
  const opened = await tryOpenUpload(flow, bytes, claim);
  if (opened.kind !== 'OPENED') throw new Error(`not opened: ${opened.code}`);
  return opened.asset.id;
};

/** Signs these parts and sends them, as cut from the bytes; answers what the client would name. */
export const sendParts = async (
  flow: Flow,
  assetId: string,
  bytes: Buffer,
  numbers: readonly number[],
): Promise<NamedPart[]> => {
  const { store } = flow.objectServer;
  const asked = { tenantId: flow.tenantId, assetId };
  const listed = await listParts(flow.context, store, asked);
  const signed = await signParts(flow.context, store, { ...asked, numbers });
  if (listed.kind === 'REFUSED' || signed.kind === 'REFUSED') throw new Error('not signed');
  return Promise.all(
    signed.parts.map(async ({ number, sizeBytes, ticket }) => {
      const start = (number - 1) * listed.plan.partSizeBytes;
      const body = new Uint8Array(bytes.subarray(start, start + sizeBytes));
      const answer = await fetch(ticket.url, {
        method: 'PUT',
        headers: { ...ticket.headers },
        body,
      });
      if (!answer.ok) throw new Error(`part ${number}: HTTP ${answer.status}`);
      return { number, etag: answer.headers.get('etag') ?? '' };
    }),
  );
};

/** The client's own PUT to the signed URL; answers the store's status. */
export const putBytes = async (ticket: UploadTicket, bytes: Buffer): Promise<number> => {
  const answer = await fetch(ticket.url, {
    method: ticket.method,
    headers: { ...ticket.headers },
    body: new Uint8Array(bytes),
  });
  await answer.arrayBuffer();
  return answer.status;
};

export const complete = (
  flow: Flow,
  assetId: string,
  tenantId: string = flow.tenantId,
  parts: readonly NamedPart[] = [],
): Promise<CompleteUploadOutcome> =>
  completeUpload(flow.context, flow.objectServer.store, {
    ...{ tenantId, assetId, parts, traceId: 'upload' },
  });

/** Opens, sends and completes; validation is left to the test. */
export const uploadBytes = async (
  flow: Flow,
  bytes: Buffer,
  claim: UploadClaim = {},
): Promise<string> => {
  const { assetId, ticket } = await openUpload(flow, bytes, claim);
  expect(await putBytes(ticket, bytes)).toBe(200);
  expect((await complete(flow, assetId)).kind).toBe('COMPLETED');
  return assetId;
};

/** A picture of the tenant's that may be used. */
export const uploadPicture = async (flow: Flow): Promise<string> => {
  const assetId = await uploadBytes(flow, await makePicture());
  await flow.drain();
  expect((await readAsset(flow, assetId)).status).toBe('READY');
  return assetId;
};

export const readAsset = async (flow: Flow, assetId: string): Promise<Asset> => {
  const asset = await flow.context.uow.stores.assets.read(assetId);
  if (asset === null) throw new Error(`no asset ${assetId}`);
  return asset;
};

export const readObject = async (flow: Flow, key: string): Promise<Buffer | null> => {
  const stored = await flow.objectServer.store.getStream(key);
  if (stored === null) return null;
  const parts: Buffer[] = [];
  for await (const part of stored.body as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts);
};
