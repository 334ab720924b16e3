import { randomBytes } from 'node:crypto';

import { sweepUploads } from '../../../src/flow/reconcile/recover-resources';
import { sweepStrayUploads } from '../../../src/flow/reconcile/sweep-stray-uploads';
import { abortUpload } from '../../../src/flow/upload/abort-upload';
import { completeUpload } from '../../../src/flow/upload/complete-upload';
import { listParts, signParts } from '../../../src/flow/upload/send-parts';
import { useFlow, type Flow } from '../../support/flow-harness';
import { countEffects } from '../../support/flow/expectations';
import { SimulatedCrash } from '../../support/flow/message-driver';
import {
  complete,
  digestOf,
  makePicture,
  openParts,
  readAsset,
  readObject,
  sendParts,
  tryOpenUpload,
} from '../../support/flow/uploads';

const open = useFlow();

const PART_BYTES = 5 * 2 ** 20;

/** A picture that is larger than it needs to be: what follows its end is looked past by every reader. */
const makeLargePicture = async (): Promise<Buffer> =>
  Buffer.concat([await makePicture(), randomBytes(2 * PART_BYTES)]);

const openKeys = async (flow: Flow): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of flow.objectServer.store.parts.listOpen('')) keys.push(key);
  return keys;
};

const list = (flow: Flow, assetId: string, tenantId = flow.tenantId) =>
  listParts(flow.context, flow.objectServer.store, { tenantId, assetId });

const sign = (flow: Flow, assetId: string, numbers: readonly number[], tenantId = flow.tenantId) =>
  signParts(flow.context, flow.objectServer.store, { tenantId, assetId, numbers });

const abort = (flow: Flow, assetId: string, tenantId = flow.tenantId) =>
  abortUpload(flow.context, flow.objectServer.store, { tenantId, assetId, traceId: 'upload' });

const opened = async (): Promise<{ flow: Flow; bytes: Buffer; assetId: string }> => {
  const flow = await open();
  const bytes = await makeLargePicture();
  return { flow, bytes, assetId: await openParts(flow, bytes, { partSizeBytes: PART_BYTES }) };
};

describe('an upload in parts', () => {
  it('becomes READY byte for byte, and leaves no parts', async () => {
    const { flow, bytes, assetId } = await opened();
    expect(await list(flow, assetId)).toMatchObject({
      ...{ kind: 'LISTED', parts: [], areJoined: false },
      plan: { partSizeBytes: PART_BYTES, partCount: 3, sizeBytes: bytes.length },
    });
    const parts = await sendParts(flow, assetId, bytes, [3, 1, 2]);
    expect(await complete(flow, assetId, flow.tenantId, parts)).toMatchObject({
      ...{ kind: 'COMPLETED', asset: { status: 'VALIDATING' } },
    });
    await flow.drain();
    const asset = await readAsset(flow, assetId);
    expect(asset).toMatchObject({ status: 'READY', width: 128, quarantineKey: null });
    const stored = await readObject(flow, asset.objectKey);
    expect(digestOf(stored ?? Buffer.alloc(0))).toBe(digestOf(bytes));
    expect(await openKeys(flow)).toEqual([]);
  });

  it('goes on after a night: what has arrived is listed, and URLs that ran out are signed again (case 37)', async () => {
    const { flow, bytes, assetId } = await opened();
    const first = await sendParts(flow, assetId, bytes, [1]);
    const signed = await sign(flow, assetId, [2]);
    if (signed.kind !== 'SIGNED') throw new Error(signed.code);
    flow.clock.advance(8 * 3_600_000);
    const late = await fetch(signed.parts[0]?.ticket.url ?? '', {
      ...{ method: 'PUT', body: new Uint8Array(bytes.subarray(PART_BYTES, 2 * PART_BYTES)) },
    });
    expect(late.status).toBe(403);
    expect(await list(flow, assetId)).toMatchObject({ parts: [{ number: 1, ...first[0] }] });
    const rest = await sendParts(flow, assetId, bytes, [2, 3]);
    expect(await complete(flow, assetId, flow.tenantId, [...first, ...rest])).toMatchObject({
      kind: 'COMPLETED',
    });
  });

  it('is refused as a whole for parts that are missing, others, or named wrongly, and stays open (case 38)', async () => {
    const { flow, bytes, assetId } = await opened();
    const done = (parts: readonly { number: number; etag: string }[]) =>
      complete(flow, assetId, flow.tenantId, parts);
    const [one, two] = await sendParts(flow, assetId, bytes, [1, 2]);
    if (one === undefined || two === undefined) throw new Error('not sent');
    const before = await countEffects(flow);
    for (const [parts, code] of [
      [[], 'PART_MISSING'],
      [[one, two], 'PART_MISSING'],
      [[one, two, { number: 3, etag: one.etag }], 'PART_MISSING'],
      [[one, one, two], 'PART_NUMBER_INVALID'],
      [[one, two, { number: 4, etag: one.etag }], 'PART_NUMBER_INVALID'],
    ] as const) {
      expect(await done(parts)).toMatchObject({ kind: 'REFUSED', code });
    }
    const three = await sendParts(flow, assetId, bytes, [3]);
    expect(await done([two, { ...one, number: 2 }, ...three])).toMatchObject({
      code: 'PART_NUMBER_INVALID',
    });
    const swapped = [
      { ...one, etag: two.etag },
      { ...two, etag: one.etag },
    ];
    expect(await done([...swapped, ...three])).toMatchObject({ code: 'PART_ETAG_MISMATCH' });
    expect(await countEffects(flow)).toEqual(before);
    // ETags are read with their quotes or without.
    const bare = [one, two, ...three].map((part) => ({
      ...part,
      etag: part.etag.replaceAll('"', ''),
    }));
    expect(await done(bare)).toMatchObject({ kind: 'COMPLETED' });
  });

  it.each([
    ['PART_TOO_SMALL', -1],
    ['PART_TOO_LARGE', 1],
  ])('is refused with %s for a part that a careless store took', async (code, difference) => {
    const { flow, bytes, assetId } = await opened();
    const { store } = flow.objectServer;
    const parts = await sendParts(flow, assetId, bytes, [1, 2, 3]);
    const session = await flow.context.uow.stores.assets.readUploadOfAsset(assetId);
    const sizeBytes = PART_BYTES + difference;
    const now = flow.clock.now();
    const ticket = await store.parts.presign(
      session?.quarantineKey ?? '',
      session?.storeUploadId ?? '',
      { number: 2, sizeBytes, now, expiresAt: new Date(now.getTime() + 60_000) },
    );
    const sent = await fetch(ticket.url, { method: 'PUT', body: new Uint8Array(sizeBytes) });
    const other = { number: 2, etag: sent.headers.get('etag') ?? '' };
    const named = parts.map((part) => (part.number === 2 ? other : part));
    expect(await complete(flow, assetId, flow.tenantId, named)).toMatchObject({ code });
  });

  it('is refused when the whole has another checksum than declared (case 38)', async () => {
    const flow = await open();
    const bytes = await makeLargePicture();
    const sha256 = digestOf(Buffer.from('something else'));
    const assetId = await openParts(flow, bytes, { partSizeBytes: PART_BYTES, sha256 });
    const parts = await sendParts(flow, assetId, bytes, [1, 2, 3]);
    const completed = await complete(flow, assetId, flow.tenantId, parts);
    // The store on disk has read every byte by then; others know when the validation has read them.
    expect(completed).toMatchObject({ code: 'UPLOAD_CHECKSUM_MISMATCH' });
    await flow.drain();
    expect((await readAsset(flow, assetId)).status).toBe('UPLOADING');
  });

  it('is REJECTED by the validation, the first to read it, in a store that sees no bytes', async () => {
    const flow = await open();
    const bytes = await makeLargePicture();
    const sha256 = digestOf(Buffer.from('something else'));
    const assetId = await openParts(flow, bytes, { partSizeBytes: PART_BYTES, sha256 });
    const parts = await sendParts(flow, assetId, bytes, [1, 2, 3]);
    const { store } = flow.objectServer;
    const unread = {
      ...{ parts: store.parts, head: () => Promise.resolve(null) },
      measure: (key: string) => store.measure(key),
    };
    const { tenantId } = flow;
    const asked = { tenantId, assetId, parts, traceId: 'upload' };
    expect(await completeUpload(flow.context, unread, asked)).toMatchObject({ kind: 'COMPLETED' });
    await flow.drain();
    const asset = await readAsset(flow, assetId);
    expect(asset).toMatchObject({ status: 'REJECTED', rejectionCode: 'UPLOAD_CHECKSUM_MISMATCH' });
    expect(await readObject(flow, asset.objectKey)).toBeNull();
  });

  it.each([
    ['parts too small', 1024, 'PART_SIZE_INVALID'],
    ['parts too large', 2 ** 30, 'PART_SIZE_INVALID'],
    ['parts of half a byte', PART_BYTES + 0.5, 'PART_SIZE_INVALID'],
  ])('is not opened with %s, and writes nothing', async (_, partSizeBytes, code) => {
    const flow = await open();
    const before = await countEffects(flow);
    const refused = await tryOpenUpload(flow, Buffer.from('x'), { partSizeBytes });
    expect(refused).toMatchObject({ kind: 'REFUSED', code });
    expect(await countEffects(flow)).toEqual(before);
    expect(await openKeys(flow)).toEqual([]);
  });

  it('signs parts that there are, and not too many at once', async () => {
    const { flow, assetId } = await opened();
    for (const numbers of [[], [0], [4], [1.5]]) {
      expect(await sign(flow, assetId, numbers)).toMatchObject({ code: 'PART_NUMBER_INVALID' });
    }
    const many = Array.from({ length: 101 }, (_, index) => index + 1);
    expect(await sign(flow, assetId, many)).toMatchObject({ code: 'TOO_MANY_PARTS' });
    expect(await sign(flow, assetId, [2, 2])).toMatchObject({ parts: [{ number: 2 }] });
  });

  it('of another tenant reads like one that is not there', async () => {
    const { flow, assetId } = await opened();
    const stranger = await flow.addTenant();
    const none = { code: 'ASSET_NOT_FOUND' };
    expect(await sign(flow, assetId, [1], stranger)).toMatchObject(none);
    expect(await list(flow, assetId, stranger)).toMatchObject(none);
    expect(await abort(flow, assetId, stranger)).toMatchObject(none);
    expect(await complete(flow, assetId, stranger)).toMatchObject(none);
    expect(await openKeys(flow)).toHaveLength(1);
  });

  it('takes no parts in one piece, and tells an upload in one piece so', async () => {
    const flow = await open();
    const whole = await tryOpenUpload(flow, Buffer.from('x'));
    if (whole.kind !== 'OPENED') throw new Error(whole.code);
    const { id } = whole.asset;
    expect(await sign(flow, id, [1])).toMatchObject({ code: 'UPLOAD_NOT_IN_PARTS' });
    expect(await list(flow, id)).toMatchObject({ code: 'UPLOAD_NOT_IN_PARTS' });
  });

  it('that was completed answers a repeat with the same asset, and takes no parts any more', async () => {
    const { flow, bytes, assetId } = await opened();
    const parts = await sendParts(flow, assetId, bytes, [1, 2, 3]);
    const done = () => complete(flow, assetId, flow.tenantId, parts);
    const both = await Promise.all([done(), done()]);
    expect(both).toMatchObject([{ kind: 'COMPLETED' }, { kind: 'COMPLETED' }]);
    const before = await countEffects(flow);
    expect(await done()).toMatchObject({ kind: 'COMPLETED', asset: { id: assetId } });
    expect(await countEffects(flow)).toEqual(before);
    const over = { code: 'UPLOAD_COMPLETED' };
    expect(await sign(flow, assetId, [1])).toMatchObject(over);
    expect(await list(flow, assetId)).toMatchObject(over);
    expect(await abort(flow, assetId)).toMatchObject(over);
    expect((await readAsset(flow, assetId)).status).toBe('VALIDATING');
  });

  it('that is aborted is FAILED with nothing left, says so ever after, and once', async () => {
    const { flow, bytes, assetId } = await opened();
    const parts = await sendParts(flow, assetId, bytes, [1]);
    expect(await abort(flow, assetId)).toMatchObject({
      ...{ kind: 'ABORTED', asset: { status: 'FAILED', rejectionCode: 'UPLOAD_ABORTED' } },
    });
    expect(await openKeys(flow)).toEqual([]);
    const before = await countEffects(flow);
    expect(await abort(flow, assetId)).toMatchObject({ kind: 'ABORTED' });
    expect(await countEffects(flow)).toEqual(before);
    const over = { code: 'UPLOAD_ABORTED' };
    expect(await sign(flow, assetId, [1])).toMatchObject(over);
    expect(await complete(flow, assetId, flow.tenantId, parts)).toMatchObject(over);
  });

  it('whose client walked away is closed, and its parts are gone after the window (case 40)', async () => {
    const { flow, bytes, assetId } = await opened();
    const { store } = flow.objectServer;
    await sendParts(flow, assetId, bytes, [1, 2]);
    flow.clock.advance(flow.context.settings.uploadPartsMs - 1_000);
    expect(await sweepUploads(flow.context, store)).toBe(0);
    flow.clock.advance(2_000);
    expect(await sign(flow, assetId, [3])).toMatchObject({ code: 'UPLOAD_EXPIRED' });
    expect(await sweepUploads(flow.context, store)).toBe(1);
    expect(await openKeys(flow)).toEqual([]);
    expect(await readAsset(flow, assetId)).toMatchObject({ rejectionCode: 'UPLOAD_EXPIRED' });
    expect(await complete(flow, assetId)).toMatchObject({ code: 'UPLOAD_EXPIRED' });
  });
});

describe('a death in an upload in parts', () => {
  it('between the row and the store leaves an upload that goes on, and nothing that stays', async () => {
    const flow = await open();
    const bytes = await makeLargePicture();
    flow.crashAt('upload.after_begin_before_record');
    await expect(openParts(flow, bytes, { partSizeBytes: PART_BYTES })).rejects.toThrow(
      SimulatedCrash,
    );
    flow.disarm();
    const [row] = await flow.look('SELECT asset_id AS id FROM upload_sessions');
    const assetId = String(row?.['id']);
    const parts = await sendParts(flow, assetId, bytes, [1, 2, 3]);
    expect(await openKeys(flow)).toHaveLength(2);
    expect(await complete(flow, assetId, flow.tenantId, parts)).toMatchObject({
      kind: 'COMPLETED',
    });
    await sweepStrayUploads(flow.context, flow.objectServer.store);
    expect(await openKeys(flow)).toEqual([]);
    await flow.drain();
    expect((await readAsset(flow, assetId)).status).toBe('READY');
  });

  it('between the store and the row is mended by the repeat, which needs no parts', async () => {
    const { flow, bytes, assetId } = await opened();
    const parts = await sendParts(flow, assetId, bytes, [1, 2, 3]);
    flow.crashAt('upload.after_multipart_complete_before_commit');
    await expect(complete(flow, assetId, flow.tenantId, parts)).rejects.toThrow(SimulatedCrash);
    flow.disarm();
    expect(await list(flow, assetId)).toMatchObject({ parts: [], areJoined: true });
    expect(await complete(flow, assetId)).toMatchObject({ kind: 'COMPLETED' });
    await flow.drain();
    expect((await readAsset(flow, assetId)).status).toBe('READY');
  });

  it.each(['abort', 'expiry'])('after an %s leaves parts that are swept', async (end) => {
    const { flow, bytes, assetId } = await opened();
    const { store } = flow.objectServer;
    await sendParts(flow, assetId, bytes, [1]);
    if (end === 'abort') {
      flow.crashAt('upload.after_abort_before_cleanup');
      await expect(abort(flow, assetId)).rejects.toThrow(SimulatedCrash);
    } else {
      flow.clock.advance(flow.context.settings.uploadPartsMs + 1_000);
      flow.crashAt('upload.after_expiry_before_delete');
      await expect(sweepUploads(flow.context, store)).rejects.toThrow(SimulatedCrash);
    }
    flow.disarm();
    const other = await openParts(flow, bytes, { partSizeBytes: null });
    expect(await openKeys(flow)).toHaveLength(2);
    expect(await sweepStrayUploads(flow.context, store)).toBe(1);
    expect(await openKeys(flow)).toEqual([(await readAsset(flow, other)).quarantineKey]);
  });
});
