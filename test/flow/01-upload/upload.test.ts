import { decideAssetReview } from '../../../src/flow/operate/decide-review';
import { sweepUploads } from '../../../src/flow/reconcile/recover-resources';
import { sweepStrayUploads } from '../../../src/flow/reconcile/sweep-stray-uploads';
import { useFlow } from '../../support/flow-harness';
import { countEffects, expectRepeatStopped } from '../../support/flow/expectations';
import { SimulatedCrash } from '../../support/flow/message-driver';
import { forgeBytes } from '../../support/flow/overwrite-object';
import {
  complete,
  digestOf,
  makePicture,
  openUpload,
  putBytes,
  readAsset,
  readObject,
  tryOpenUpload,
  uploadBytes,
} from '../../support/flow/uploads';

const open = useFlow();

describe('an upload', () => {
  it('becomes READY out of quarantine, byte for byte, with what was found in it', async () => {
    const flow = await open();
    const bytes = await makePicture();
    const assetId = await uploadBytes(flow, bytes);
    const validating = await readAsset(flow, assetId);
    expect(validating.status).toBe('VALIDATING');
    await flow.drain();
    const asset = await readAsset(flow, assetId);
    expect(asset).toMatchObject({
      status: 'READY',
      kind: 'INPUT_IMAGE',
      detectedMime: 'image/png',
      width: 128,
      height: 72,
      quarantineKey: null,
    });
    expect((await readObject(flow, asset.objectKey))?.equals(bytes)).toBe(true);
    expect(await readObject(flow, validating.quarantineKey ?? '')).toBeNull();
  });

  it('is not usable while its bytes are missing, and completes once they are there', async () => {
    const flow = await open();
    const bytes = await makePicture();
    const { assetId, ticket } = await openUpload(flow, bytes);
    expect(await complete(flow, assetId)).toMatchObject({ code: 'UPLOAD_INCOMPLETE' });
    expect((await readAsset(flow, assetId)).status).toBe('UPLOADING');
    expect(await putBytes(ticket, bytes)).toBe(200);
    expect(await complete(flow, assetId)).toMatchObject({ kind: 'COMPLETED' });
  });

  it('answers a repeated complete with the same asset and asks for one validation, before and after the end', async () => {
    const flow = await open();
    const assetId = await uploadBytes(flow, await makePicture());
    const before = await countEffects(flow);
    expect(await complete(flow, assetId)).toMatchObject({ kind: 'COMPLETED' });
    expect(await countEffects(flow)).toEqual(before);
    await flow.drain();
    expect(await complete(flow, assetId)).toMatchObject({
      kind: 'COMPLETED',
      asset: { id: assetId, status: 'READY' },
    });
  });

  it('of another tenant reads like one that is not there', async () => {
    const flow = await open();
    const stranger = await flow.addTenant();
    const { assetId } = await openUpload(flow, await makePicture());
    expect(await complete(flow, assetId, stranger)).toMatchObject({ code: 'ASSET_NOT_FOUND' });
  });

  it.each([
    ['no bytes', { sizeBytes: 0 }, 'EMPTY_FILE'],
    ['more bytes than allowed', { sizeBytes: 50_000_001 }, 'FILE_TOO_LARGE'],
    ['a type nobody reads', { contentType: 'text/plain' }, 'UNSUPPORTED_TYPE'],
    ['no checksum', { sha256: 'ABC' }, 'CHECKSUM_INVALID'],
    ['no name', { fileName: '' }, 'FILE_NAME_INVALID'],
  ])('is refused for %s and writes nothing (case 38)', async (_, claim, code) => {
    const flow = await open();
    const before = await countEffects(flow);
    expect(await tryOpenUpload(flow, Buffer.from('x'), claim)).toMatchObject({ code });
    expect(await countEffects(flow)).toEqual(before);
  });

  it('never becomes READY when size or checksum are not the declared ones (case 38)', async () => {
    const flow = await open();
    const bytes = await makePicture();
    const { assetId, ticket } = await openUpload(flow, bytes);
    const others = Buffer.from(bytes);
    others[others.length - 5] = 1 ^ (others[others.length - 5] ?? 0);
    expect(await putBytes(ticket, others)).toBeGreaterThanOrEqual(400);
    expect(await putBytes(ticket, bytes.subarray(0, 40))).toBeGreaterThanOrEqual(400);
    expect(await complete(flow, assetId)).toMatchObject({ code: 'UPLOAD_INCOMPLETE' });
    await flow.drain();
    expect((await readAsset(flow, assetId)).status).toBe('UPLOADING');
  });

  it('cannot be sent by an expired URL; a new upload can (case 37)', async () => {
    const flow = await open();
    const bytes = await makePicture();
    const { ticket } = await openUpload(flow, bytes);
    flow.clock.advance(flow.context.settings.uploadTicketMs + 1_000);
    expect(await putBytes(ticket, bytes)).toBe(403);
    const again = await openUpload(flow, bytes);
    expect(await putBytes(again.ticket, bytes)).toBe(200);
  });

  it('is not believed by what is noted beside its bytes: other bytes are never scanned as the declared ones', async () => {
    const flow = await open();
    const picture = await makePicture();
    const { assetId, ticket } = await openUpload(flow, picture);
    expect(await putBytes(ticket, picture)).toBe(200);
    expect((await complete(flow, assetId)).kind).toBe('COMPLETED');
    const { quarantineKey } = await readAsset(flow, assetId);
    await forgeBytes(flow, quarantineKey ?? '', (bytes) =>
      Buffer.concat([bytes, Buffer.from('x')]),
    );
    await flow.drain();
    expect(await readAsset(flow, assetId)).toMatchObject({
      status: 'REJECTED',
      rejectionCode: 'UPLOAD_CHECKSUM_MISMATCH',
    });
  });

  it('serves what was scanned though its URL is used again (case 39)', async () => {
    const flow = await open();
    const bytes = await makePicture();
    const { assetId, ticket } = await openUpload(flow, bytes);
    await putBytes(ticket, bytes);
    await complete(flow, assetId);
    await flow.drain();
    const others = Buffer.alloc(bytes.length, 7);
    expect(await putBytes(ticket, others)).toBeGreaterThanOrEqual(400);
    await putBytes(ticket, bytes);
    const { objectKey } = await readAsset(flow, assetId);
    expect(digestOf((await readObject(flow, objectKey)) ?? Buffer.alloc(0))).toBe(digestOf(bytes));
    expect((await readAsset(flow, assetId)).status).toBe('READY');
  });

  it('whose client walked away is closed and its bytes are gone after the window (case 40)', async () => {
    const flow = await open();
    const bytes = await makePicture();
    const { assetId, ticket } = await openUpload(flow, bytes);
    await putBytes(ticket, bytes);
    const { quarantineKey } = await readAsset(flow, assetId);
    expect(await sweepUploads(flow.context, flow.objectServer.store)).toBe(0);
    flow.clock.advance(flow.context.settings.uploadTicketMs + 1_000);
    expect(await sweepUploads(flow.context, flow.objectServer.store)).toBe(1);
    expect(await readAsset(flow, assetId)).toMatchObject({
      status: 'FAILED',
      rejectionCode: 'UPLOAD_EXPIRED',
    });
    expect(await readObject(flow, quarantineKey ?? '')).toBeNull();
    expect(await complete(flow, assetId)).toMatchObject({ code: 'UPLOAD_EXPIRED' });
    expect(
      await flow.look(
        'SELECT kind, subject_id, tenant_id, action_taken, resolved_at IS NOT NULL AS over FROM findings',
      ),
    ).toEqual([
      {
        kind: 'STALE_UPLOAD',
        subject_id: assetId,
        tenant_id: flow.tenantId,
        action_taken: 'closed; its bytes go',
        over: true,
      },
    ]);
  });
});

describe('the validation', () => {
  it.each([
    ['a text named .mp4', 'video/mp4', 'clip.mp4', Buffer.from('not a film at all, only words\n')],
    [
      'a playlist named .mp4',
      'video/mp4',
      'clip.mp4',
      Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n'),
    ],
  ])('rejects %s', async (_, contentType, fileName, bytes) => {
    const flow = await open();
    const assetId = await uploadBytes(flow, bytes, { contentType, fileName });
    await flow.drain();
    const asset = await readAsset(flow, assetId);
    expect(asset).toMatchObject({ status: 'REJECTED', rejectionCode: 'UNSUPPORTED_TYPE' });
    expect(await readObject(flow, asset.objectKey)).toBeNull();
  });

  it('rejects a picture that was declared a film', async () => {
    const flow = await open();
    const assetId = await uploadBytes(flow, await makePicture(), { contentType: 'video/mp4' });
    await flow.drain();
    expect((await readAsset(flow, assetId)).status).toBe('REJECTED');
  });

  it('leaves what a person must see in review: approved it is usable, rejected it is not', async () => {
    const flow = await open();
    const bytes = await makePicture();
    for (const [verdict, status] of [
      ['APPROVE', 'READY'],
      ['REJECT', 'REJECTED'],
    ] as const) {
      const assetId = await uploadBytes(flow, bytes, { fileName: 'my deepfake.png' });
      await flow.drain();
      expect((await readAsset(flow, assetId)).status).toBe('IN_REVIEW');
      const decision = { verdict, actor: 'operator:1', reason: 'seen' };
      expect(
        await decideAssetReview(flow.context, assetId, { ...decision, reason: ' ' }),
      ).toMatchObject({ code: 'REASON_REQUIRED' });
      expect(await decideAssetReview(flow.context, assetId, decision)).toMatchObject({
        kind: 'DONE',
      });
      expect((await readAsset(flow, assetId)).status).toBe(status);
      expect(await decideAssetReview(flow.context, assetId, decision)).toMatchObject({
        code: 'NOT_IN_REVIEW',
      });
    }
  });

  it('finds its own copy after a death between copy and database', async () => {
    const flow = await open();
    const assetId = await uploadBytes(flow, await makePicture());
    await flow.relay();
    flow.crashAt('upload.after_copy_before_db');
    await expect(flow.deliver('asset-validator')).rejects.toThrow(SimulatedCrash);
    flow.disarm();
    expect((await readAsset(flow, assetId)).status).toBe('VALIDATING');
    flow.clock.advance(20_000);
    await flow.drain();
    expect((await readAsset(flow, assetId)).status).toBe('READY');
  });

  it.each(['READY', 'FAILED'])(
    'whose bytes stay in quarantine after a death, though the row is %s, is swept; what is under way stays',
    async (status) => {
      const flow = await open();
      const { store } = flow.objectServer;
      const bytes = await makePicture();
      const { assetId, ticket } = await openUpload(flow, bytes);
      await putBytes(ticket, bytes);
      const key = (await readAsset(flow, assetId)).quarantineKey ?? '';
      if (status === 'READY') {
        await complete(flow, assetId);
        await flow.relay();
        flow.crashAt('upload.after_db_before_cleanup');
        await expect(flow.deliver('asset-validator')).rejects.toThrow(SimulatedCrash);
      } else {
        flow.clock.advance(flow.context.settings.uploadTicketMs + 1_000);
        flow.crashAt('upload.after_expiry_before_delete');
        await expect(sweepUploads(flow.context, store)).rejects.toThrow(SimulatedCrash);
      }
      flow.disarm();
      const other = await openUpload(flow, bytes);
      await putBytes(other.ticket, bytes);
      const otherKey = (await readAsset(flow, other.assetId)).quarantineKey ?? '';
      expect((await readAsset(flow, assetId)).status).toBe(status);
      expect(await readObject(flow, key)).not.toBeNull();
      expect(await sweepStrayUploads(flow.context, store)).toBe(1);
      expect(await readObject(flow, key)).toBeNull();
      expect(await readObject(flow, otherKey)).not.toBeNull();
    },
  );

  test('the inbox of asset-validator stops a repeat', async () => {
    const flow = await open();
    await uploadBytes(flow, await makePicture());
    await flow.relay();
    await expectRepeatStopped(flow, 'asset-validator');
  });
});
