import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { dataOf, type GraphqlClient } from '../client/graphql-client';
import { ASSET, UPLOAD_COMPLETE, UPLOAD_CREATE, type UserError } from './operations';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.png': 'image/png',
  '.webp': 'image/webp',
};
const VALIDATION_LIMIT_MS = 30_000;
const LOOK_AGAIN_MS = 150;

interface CreateAnswer {
  readonly assetUploadCreate: {
    readonly asset: { readonly id: string } | null;
    readonly upload: {
      readonly url: string;
      readonly method: string;
      readonly headers: readonly { readonly name: string; readonly value: string }[];
    } | null;
    readonly userErrors: readonly UserError[];
  };
}

/** Upload, complete, wait until it is usable; answers the asset's id. Rejects with the API's own words. */
export const uploadPicture = async (client: GraphqlClient, file: string): Promise<string> => {
  const bytes = await readFile(file);
  const input = {
    fileName: path.basename(file),
    contentType: CONTENT_TYPES[path.extname(file).toLowerCase()] ?? 'application/octet-stream',
    sizeBytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  };
  const { assetUploadCreate } = dataOf(
    await client.request<CreateAnswer>(UPLOAD_CREATE, { input }),
  );
  refuseErrors('upload', assetUploadCreate.userErrors);
  const { asset, upload } = assetUploadCreate;
  if (asset === null || upload === null) throw new Error('The API opened no upload');
  const stored = await fetch(upload.url, {
    method: upload.method,
    headers: Object.fromEntries(upload.headers.map(({ name, value }) => [name, value])),
    body: bytes,
  });
  if (!stored.ok)
    throw new Error(
      `The object store refused the bytes: HTTP ${stored.status} ${await stored.text()}`,
    );
  const { assetUploadComplete } = dataOf(
    await client.request<{ assetUploadComplete: { userErrors: readonly UserError[] } }>(
      UPLOAD_COMPLETE,
      {
        input: { assetId: asset.id },
      },
    ),
  );
  refuseErrors('upload', assetUploadComplete.userErrors);
  await untilReady(client, asset.id);
  return asset.id;
};

export const refuseErrors = (what: string, errors: readonly UserError[]): void => {
  if (errors.length === 0) return;
  throw new Error(
    `The ${what} was refused: ${errors.map((error) => `${error.code}: ${error.message}`).join('; ')}`,
  );
};

const untilReady = async (client: GraphqlClient, id: string): Promise<void> => {
  for (let waitedMs = 0; waitedMs < VALIDATION_LIMIT_MS; waitedMs += LOOK_AGAIN_MS) {
    const { asset } = dataOf(
      await client.request<{
        asset: { status: string; rejection: { code: string; detail: string | null } | null } | null;
      }>(ASSET, { id }),
    );
    if (asset?.status === 'READY') return;
    if (asset !== null && !['UPLOADING', 'VALIDATING'].includes(asset.status)) {
      throw new Error(
        `The picture is ${asset.status}: ${asset.rejection?.code ?? ''} ${asset.rejection?.detail ?? ''}`,
      );
    }
    await wait(LOOK_AGAIN_MS);
  }
  throw new Error(`The picture was not validated within ${VALIDATION_LIMIT_MS / 1000} s`);
};
