import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { dataOf } from '../../../src/client/graphql-client';
import {
  GENERATION_CREATE,
  UPLOAD_COMPLETE,
  UPLOAD_CREATE,
  type UserError,
} from '../../../src/demo/operations';
import { toPublicId, toUuid } from '../../../src/resolvers/public-id';
import { eventually } from '../../support/eventually';
import type { CrashProduct } from './crash-product';

const PATIENCE_MS = 60_000;
const LOOK_AGAIN_MS = 100;
const PICTURE = path.join(__dirname, '../../../examples/demo/hills.jpg');

/**
 * Asks as a good client does: what got no answer is asked again, with the same idempotency key, until there is one. A refusal
 * is an answer.
 */
const insist = <T>(what: string, ask: () => Promise<T>): Promise<T> => {
  let last: unknown = null;
  return eventually(
    what,
    async () => {
      try {
        return await ask();
      } catch (error) {
        if (error instanceof RefusedError) throw error;
        last = error;
        return null;
      }
    },
    PATIENCE_MS,
    LOOK_AGAIN_MS,
  ).catch((error: unknown) => {
    if (error instanceof RefusedError) throw error;
    throw new Error(`${String(error)} (${String(last)})`);
  });
};

class RefusedError extends Error {}

const mutate = async <K extends string, T extends { readonly userErrors: readonly UserError[] }>(
  product: CrashProduct,
  query: string,
  field: K,
  input: Readonly<Record<string, unknown>>,
): Promise<T> =>
  insist(field, async () => {
    const answer = await product.client.request<Record<K, T>>(query, { input });
    // The process behind it is dying or starting.
    if (answer.status >= 500) throw new Error(`HTTP ${answer.status}`);
    const payload = dataOf(answer)[field];
    if (payload.userErrors.length > 0) {
      throw new RefusedError(`${field}: ${JSON.stringify(payload.userErrors)}`);
    }
    return payload;
  });

/** Answers the row's id. `fault` is the sandbox's, with its parameters beside it. */
export const createTask = async (
  product: CrashProduct,
  changes: {
    readonly prompt?: string;
    readonly options?: Readonly<Record<string, unknown>>;
    readonly imageAssetId?: string;
    readonly quoteId?: string;
  } = {},
): Promise<string> => {
  const { options, imageAssetId, ...rest } = changes;
  const { generation } = await mutate<
    'generationCreate',
    { generation: { id: string }; userErrors: readonly UserError[] }
  >(product, GENERATION_CREATE, 'generationCreate', {
    idempotencyKey: randomUUID(),
    model: 'sandbox-video-1',
    prompt: 'waves on a beach',
    durationMs: 2000,
    resolution: '480p',
    ...rest,
    ...(options === undefined ? {} : { providerOptions: options }),
    ...(imageAssetId === undefined ? {} : { imageAssetId: toPublicId('asset', imageAssetId) }),
  });
  return toUuid('generation', generation.id);
};

export const createQuote = async (product: CrashProduct): Promise<string> => {
  const { quote } = await mutate<
    'generationQuoteCreate',
    { quote: { id: string }; userErrors: readonly UserError[] }
  >(
    product,
    `mutation Quote($input: GenerationQuoteCreateInput!) {
      generationQuoteCreate(input: $input) { quote { id } userErrors { message code field } }
    }`,
    'generationQuoteCreate',
    {
      model: 'sandbox-video-1',
      prompt: 'waves on a beach',
      durationMs: 2000,
      resolution: '480p',
      providerOptions: { fault: 'filtered' },
    },
  );
  return quote.id;
};

export const cancelTask = async (product: CrashProduct, taskId: string): Promise<void> => {
  await mutate(
    product,
    `mutation Cancel($input: GenerationCancelInput!) {
      generationCancel(input: $input) { stopped userErrors { message code field } }
    }`,
    'generationCancel',
    { generationId: toPublicId('generation', taskId) },
  ).catch((error: unknown) => {
    // Asked again after a lost answer, the cancel may have come to its end meanwhile.
    if (!String(error).includes('ALREADY_FINISHED')) throw error;
  });
};

/** A decision asked for again after a lost answer finds nothing to decide: it was made. */
const decide = async (
  product: CrashProduct,
  mutation: 'generationReviewDecide' | 'assetReviewDecide',
  input: Readonly<Record<string, unknown>>,
): Promise<void> => {
  const type = `${mutation[0]?.toUpperCase() ?? ''}${mutation.slice(1)}Input`;
  await mutate(
    product,
    `mutation Decide($input: ${type}!) { ${mutation}(input: $input) { userErrors { message code field } } }`,
    mutation,
    { verdict: 'APPROVE', reason: 'looked at', ...input },
  ).catch((error: unknown) => {
    if (!String(error).includes('NOT_IN_REVIEW')) throw error;
  });
};

export const approveTask = (product: CrashProduct, taskId: string): Promise<void> =>
  decide(product, 'generationReviewDecide', { generationId: toPublicId('generation', taskId) });

export const approveAsset = (product: CrashProduct, assetId: string): Promise<void> =>
  decide(product, 'assetReviewDecide', { assetId: toPublicId('asset', assetId) });

export const grant = async (product: CrashProduct, reference: string): Promise<void> => {
  await mutate(
    product,
    `mutation Grant($input: CreditsGrantInput!) {
      creditsGrant(input: $input) { repeated userErrors { message code field } }
    }`,
    'creditsGrant',
    {
      tenantId: toPublicId('tenant', product.tenantId),
      amount: '1.5',
      reference,
      reason: 'crash run',
    },
  );
};

export const importInvoice = async (
  product: CrashProduct,
  text: string,
  at: Date,
): Promise<void> => {
  await mutate(
    product,
    `mutation Import($input: InvoiceImportInput!) {
      invoiceImport(input: $input) { repeated userErrors { message code field } }
    }`,
    'invoiceImport',
    {
      provider: 'sandbox',
      format: 'JSON_LINES',
      periodStart: at.toISOString(),
      periodEnd: new Date(at.getTime() + 1).toISOString(),
      text,
      reason: 'crash run',
    },
  );
};

interface OpenedUpload {
  readonly assetId: string;
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

export const openUpload = async (
  product: CrashProduct,
  fileName = 'hills.jpg',
): Promise<OpenedUpload> => {
  const bytes = await readFile(PICTURE);
  const { asset, upload } = await mutate<
    'assetUploadCreate',
    {
      asset: { id: string };
      upload: { url: string; method: string; headers: { name: string; value: string }[] };
      userErrors: readonly UserError[];
    }
  >(product, UPLOAD_CREATE, 'assetUploadCreate', {
    fileName,
    contentType: 'image/jpeg',
    sizeBytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  });
  return {
    assetId: toUuid('asset', asset.id),
    url: upload.url,
    method: upload.method,
    headers: Object.fromEntries(upload.headers.map(({ name, value }) => [name, value])),
    bytes,
  };
};

export const sendBytes = async (upload: OpenedUpload): Promise<void> => {
  await insist('the bytes are stored', async () => {
    const response = await fetch(upload.url, {
      method: upload.method,
      headers: upload.headers,
      body: upload.bytes,
    });
    const said = response.ok ? '' : `HTTP ${response.status} ${await response.text()}`;
    if (response.status === 403) throw new RefusedError(said);
    if (said !== '') throw new Error(said);
    return true;
  });
};

export const completeUpload = async (
  product: CrashProduct,
  assetId: string,
  parts?: readonly UploadPart[],
): Promise<void> => {
  await mutate(product, UPLOAD_COMPLETE, 'assetUploadComplete', {
    assetId: toPublicId('asset', assetId),
    ...(parts === undefined ? {} : { parts }),
  });
};

interface UploadPart {
  readonly number: number;
  readonly etag: string;
}

/** In parts; the picture is small enough for one. */
export const openPartsUpload = async (
  product: CrashProduct,
): Promise<{ readonly assetId: string; readonly bytes: Buffer }> => {
  const bytes = await readFile(PICTURE);
  const { asset } = await mutate<
    'assetUploadCreate',
    { asset: { id: string }; userErrors: readonly UserError[] }
  >(product, UPLOAD_CREATE, 'assetUploadCreate', {
    ...{ fileName: 'hills.jpg', contentType: 'image/jpeg', method: 'PARTS' },
    sizeBytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  });
  return { assetId: toUuid('asset', asset.id), bytes };
};

/** Sends the one part, and again as often as its answer is lost. */
export const sendPart = async (
  product: CrashProduct,
  assetId: string,
  bytes: Buffer,
): Promise<readonly UploadPart[]> => {
  const { parts } = await mutate<
    'assetUploadPartsSign',
    { parts: { upload: { url: string } }[]; userErrors: readonly UserError[] }
  >(
    product,
    `mutation Sign($input: AssetUploadPartsSignInput!) {
      assetUploadPartsSign(input: $input) { parts { upload { url } } userErrors { message code field } }
    }`,
    'assetUploadPartsSign',
    { assetId: toPublicId('asset', assetId), partNumbers: [1] },
  );
  return insist('the part is stored', async () => {
    const answer = await fetch(parts[0]?.upload.url ?? '', { method: 'PUT', body: bytes });
    if (!answer.ok) throw new Error(`HTTP ${answer.status} ${await answer.text()}`);
    return [{ number: 1, etag: answer.headers.get('etag') ?? '' }];
  });
};

export const abortUpload = async (product: CrashProduct, assetId: string): Promise<void> => {
  await mutate(
    product,
    `mutation Abort($input: AssetUploadAbortInput!) {
      assetUploadAbort(input: $input) { asset { status } userErrors { message code field } }
    }`,
    'assetUploadAbort',
    { assetId: toPublicId('asset', assetId) },
  );
};
