import { Readable } from 'node:stream';

import { releaseQuarantine } from '../../../src/flow/operate/release-quarantine';
import { sweepQuarantine } from '../../../src/flow/reconcile/recover-resources';
import type { Moderation } from '../../../src/ports/moderation';
import { useFlow, type Flow } from '../../support/flow-harness';
import { SimulatedCrash } from '../../support/flow/message-driver';
import { auditOf, expectRefused, NOBODY, ORDER } from '../../support/flow/operator';
import { makePicture, readAsset, readObject, uploadBytes } from '../../support/flow/uploads';

const open = useFlow();

const strict: Moderation = {
  rulesVersion: 'strict',
  judgePrompt: () => Promise.resolve({ verdict: 'APPROVE' }),
  judgeMedia: () => Promise.resolve({ verdict: 'REJECT', reasonCode: 'LOOKS_WRONG' }),
};

const release = (flow: Flow, id: string, order = ORDER) =>
  releaseQuarantine(flow.context, flow.objectServer.store, id, order);

const rejected = async (): Promise<{ flow: Flow; id: string; bytes: Buffer; key: string }> => {
  const flow = await open({ moderation: strict });
  const bytes = await makePicture();
  const id = await uploadBytes(flow, bytes);
  await flow.drain();
  const { status, quarantineKey } = await readAsset(flow, id);
  expect(status).toBe('REJECTED');
  return { flow, id, bytes, key: quarantineKey ?? '' };
};

describe('an upload that was rejected', () => {
  it('by mistake is released with what was found in it, and can be used', async () => {
    const { flow, id, bytes, key } = await rejected();
    const outcomes = await Promise.all([release(flow, id), release(flow, id)]);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['DONE', 'REFUSED']);
    const asset = await readAsset(flow, id);
    expect(asset).toMatchObject({
      status: 'READY',
      rejectionCode: null,
      quarantineKey: null,
      detectedMime: 'image/png',
      width: 128,
    });
    expect((await readObject(flow, asset.objectKey))?.equals(bytes)).toBe(true);
    expect(await readObject(flow, key)).toBeNull();
    const created = await flow.tryCreate({ request: { imageAssetId: id } });
    expect(created).toMatchObject({ kind: 'CREATED' });
    expect(await auditOf(flow)).toMatchObject([
      { action: 'asset.release', refused: null, before: { rejectionCode: 'MODERATION_REJECTED' } },
      { action: 'asset.release', refused: 'NOT_IN_QUARANTINE' },
    ]);
  });

  it('is kept for a while and then gone, and what is gone is not released', async () => {
    const { flow, id, key } = await rejected();
    const { store } = flow.objectServer;
    expect(await sweepQuarantine(flow.context, store)).toBe(0);
    expect(await readObject(flow, key)).not.toBeNull();
    flow.clock.advance(flow.context.settings.quarantineKeepMs + 1);
    expect(await sweepQuarantine(flow.context, store)).toBe(1);
    expect(await readObject(flow, key)).toBeNull();
    expect(await sweepQuarantine(flow.context, store)).toBe(0);
    await expectRefused(flow, 'BYTES_GONE', () => release(flow, id));
  });

  it('whose bytes are gone or are others is not released', async () => {
    const { flow, id, key } = await rejected();
    const { store } = flow.objectServer;
    await store.delete(key);
    await expectRefused(flow, 'BYTES_GONE', () => release(flow, id));
    await store.putStream(key, Readable.from([Buffer.from('others')]), {
      contentType: 'image/png',
      sizeBytesMax: 10,
    });
    await expectRefused(flow, 'CHECKSUM_MISMATCH', () => release(flow, id));
    expect((await readAsset(flow, id)).status).toBe('REJECTED');
  });

  it('by a release that died is where it was, or where it should be', async () => {
    const { flow, id } = await rejected();
    flow.crashAt('operator.before_commit');
    await expect(release(flow, id)).rejects.toThrow(SimulatedCrash);
    flow.disarm();
    expect((await readAsset(flow, id)).status).toBe('REJECTED');
    expect(await release(flow, id)).toMatchObject({ kind: 'DONE' });
  });

  it('because nothing can read it stays rejected', async () => {
    const flow = await open();
    const id = await uploadBytes(flow, Buffer.from('no picture at all'));
    await flow.drain();
    await expectRefused(flow, 'UNREADABLE', () => release(flow, id));
  });
});

describe('an upload that waits for its verdict', () => {
  it('is released only when that is long overdue', async () => {
    const flow = await open();
    const id = await uploadBytes(flow, await makePicture());
    await expectRefused(flow, 'STILL_VALIDATING', () => release(flow, id));
    await expectRefused(flow, 'REASON_REQUIRED', () => release(flow, id, { ...ORDER, reason: '' }));
    await expectRefused(flow, 'NOT_FOUND', () => release(flow, NOBODY));
    flow.clock.advance(31 * 60_000);
    expect(await release(flow, id)).toMatchObject({ result: { status: 'READY' } });
    await flow.drain();
    expect((await readAsset(flow, id)).status).toBe('READY');
  });
});
