import { createHash, randomBytes } from 'node:crypto';

import { useApi, type RunningApi } from './support/running-api';

const running = useApi();

const PART_BYTES = 5 * 2 ** 20;
const ERRORS = 'userErrors { message code field }';
const CREATE = `mutation ($input: AssetUploadCreateInput!) {
  assetUploadCreate(input: $input) {
    asset { id status } upload { url } parts { partSizeBytes partCount expiresAt } ${ERRORS}
  }
}`;
const SIGN = `mutation ($input: AssetUploadPartsSignInput!) {
  assetUploadPartsSign(input: $input) {
    parts { number sizeBytes upload { url method headers { name value } expiresAt } } ${ERRORS}
  }
}`;
const LIST = `query ($id: ID!) {
  assetUploadParts(assetId: $id) {
    plan { partCount } parts { number sizeBytes etag } assembled ${ERRORS}
  }
}`;
const COMPLETE = `mutation ($input: AssetUploadCompleteInput!) {
  assetUploadComplete(input: $input) { asset { id status } ${ERRORS} }
}`;
const ABORT = `mutation ($input: AssetUploadAbortInput!) {
  assetUploadAbort(input: $input) { asset { id status } ${ERRORS} }
}`;

const openUpload = async (api: RunningApi, bytes: Buffer, changes: object = {}) =>
  (
    await api.ask(CREATE, {
      input: {
        ...{ fileName: 'clip.mp4', contentType: 'video/mp4', sizeBytes: bytes.length },
        sha256: createHash('sha256').update(bytes).digest('hex'),
        ...{ method: 'PARTS', partSizeBytes: PART_BYTES, ...changes },
      },
    })
  ).data.assetUploadCreate;

describe('an upload in parts, over the API', () => {
  it('is opened, signed, listed and completed by a client that reads ETags as a page does', async () => {
    const api = running();
    const bytes = randomBytes(PART_BYTES + 10);
    const { asset, upload, parts, userErrors } = await openUpload(api, bytes);
    expect({ upload, parts, userErrors }).toMatchObject({
      ...{ upload: null, userErrors: [] },
      parts: { partSizeBytes: PART_BYTES, partCount: 2 },
    });
    const signed = await api.ask(SIGN, { input: { assetId: asset.id, partNumbers: [2, 1] } });
    const named: { number: number; etag: string | null }[] = [];
    for (const part of signed.data.assetUploadPartsSign.parts) {
      const start = (part.number - 1) * PART_BYTES;
      const answer = await fetch(part.upload.url, {
        method: part.upload.method,
        body: new Uint8Array(bytes.subarray(start, start + part.sizeBytes)),
      });
      named.push({ number: part.number, etag: answer.headers.get('etag') });
    }
    const listed = await api.ask(LIST, { id: asset.id });
    expect(listed.data.assetUploadParts).toMatchObject({
      ...{ plan: { partCount: 2 }, assembled: false, userErrors: [] },
      parts: [
        { ...named[1], sizeBytes: PART_BYTES },
        { ...named[0], sizeBytes: 10 },
      ],
    });
    const input = { assetId: asset.id, parts: named };
    for (const round of [1, 2]) {
      const { data } = await api.ask(COMPLETE, { input });
      expect([round, data.assetUploadComplete]).toMatchObject([
        round,
        { asset: { id: asset.id, status: 'VALIDATING' }, userErrors: [] },
      ]);
    }
  });

  it('is refused with codes that point to the input', async () => {
    const api = running();
    const bytes = randomBytes(100);
    expect(await openUpload(api, bytes, { partSizeBytes: 7 })).toMatchObject({
      ...{ asset: null, parts: null },
      userErrors: [{ code: 'PART_SIZE_INVALID', field: 'partSizeBytes' }],
    });
    const { asset } = await openUpload(api, bytes);
    const sign = async (partNumbers: number[]) =>
      (await api.ask(SIGN, { input: { assetId: asset.id, partNumbers } })).data
        .assetUploadPartsSign;
    expect(await sign([9])).toMatchObject({
      ...{ parts: [], userErrors: [{ code: 'PART_NUMBER_INVALID', field: 'partNumbers' }] },
    });
    const complete = await api.ask(COMPLETE, { input: { assetId: asset.id } });
    expect(complete.data.assetUploadComplete).toMatchObject({
      ...{ asset: null, userErrors: [{ code: 'PART_MISSING', field: 'parts' }] },
    });
    const aborted = await api.ask(ABORT, { input: { assetId: asset.id } });
    expect(aborted.data.assetUploadAbort).toMatchObject({
      ...{ asset: { status: 'FAILED' }, userErrors: [] },
    });
    expect(await sign([1])).toMatchObject({ userErrors: [{ code: 'UPLOAD_ABORTED' }] });
    const listed = await api.ask(LIST, { id: asset.id });
    expect(listed.data.assetUploadParts).toMatchObject({
      ...{ plan: null, userErrors: [{ code: 'UPLOAD_ABORTED' }] },
    });
  });

  it('of another account is none, whatever is asked of it', async () => {
    const api = running();
    const { asset } = await openUpload(api, randomBytes(100));
    const token = await api.tokenOf(await api.addTenant({}));
    const none = [{ code: 'ASSET_NOT_FOUND' }];
    const input = { assetId: asset.id };
    for (const [query, variables] of [
      [SIGN, { input: { ...input, partNumbers: [1] } }],
      [LIST, { id: asset.id }],
      [COMPLETE, { input: { ...input, parts: [] } }],
      [ABORT, { input }],
    ] as const) {
      const { data } = await api.ask(query, variables, { token });
      expect(Object.values(data)).toMatchObject([{ userErrors: none }]);
    }
  });
});
