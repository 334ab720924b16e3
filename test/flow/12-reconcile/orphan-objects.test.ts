import { Readable } from 'node:stream';

import { derivativePrefix, inputKey, rawOutputKey } from '../../../src/domain/output/object-keys';
import { createObjectSweep } from '../../../src/flow/reconcile/sweep-objects';
import type { Moderation } from '../../../src/ports/moderation';
import type { ObjectStore } from '../../../src/ports/object-store';
import { useFlow, type Flow } from '../../support/flow-harness';
import {
  complete,
  makePicture,
  openUpload,
  putBytes,
  readAsset,
  uploadBytes,
} from '../../support/flow/uploads';

const open = useFlow();

const put = (flow: Flow, key: string, bytes = Buffer.from(key)) =>
  flow.objectServer.store.putStream(key, Readable.from([bytes]), {
    contentType: 'application/octet-stream',
    sizeBytesMax: bytes.length,
  });

const keysOf = async (flow: Flow): Promise<string[]> => {
  const keys: string[] = [];
  for await (const head of flow.objectServer.store.list('')) keys.push(head.key);
  return keys;
};

const windowOver = (flow: Flow): void =>
  flow.clock.advance(flow.context.settings.orphanObjectAgeMs + 1);

const sweep = (flow: Flow, objects: Partial<ObjectStore> = {}): Promise<number> => {
  const { store } = flow.objectServer;
  return createObjectSweep(flow.context, {
    list: (prefix, options) => store.list(prefix, options),
    deleteIfOlder: (key, before) => store.deleteIfOlder(key, before),
    ...objects,
  })();
};

const findingsOf = (flow: Flow) =>
  flow.look(
    `SELECT subject_id, action_taken, resolution, detail, tenant_id, resolved_at IS NOT NULL AS over
     FROM findings WHERE kind = 'ORPHAN_OBJECT' ORDER BY subject_id`,
  );

const success = async (
  flow: Flow,
): Promise<{ taskId: string; attemptId: string; rawId: string }> => {
  const { id } = await flow.submit();
  await flow.finishJob(id);
  await flow.drain();
  expect((await flow.task(id)).status).toBe('SUCCEEDED');
  const assets = await flow.context.uow.stores.assets.listOfTask(id);
  const raw = assets.find(({ kind }) => kind === 'RAW_OUTPUT');
  return { taskId: id, attemptId: (await flow.attempt(id)).id, rawId: raw?.id ?? '' };
};

describe('an object that no row names', () => {
  it('is deleted after the window, with a finding, and everything that a row names stays', async () => {
    const flow = await open();
    const picture = await uploadBytes(flow, await makePicture());
    const { taskId, attemptId, rawId } = await success(flow);
    const named = await keysOf(flow);
    expect(named.filter((key) => key.includes('/hls/')).length).toBeGreaterThan(2);
    expect(named).toContain(inputKey(flow.tenantId, picture));
    const orphans = [
      rawOutputKey(flow.tenantId, taskId, attemptId, 0, 7),
      `${derivativePrefix(flow.tenantId, rawId, 'HLS', 9)}index.m3u8`,
      `${derivativePrefix(flow.tenantId, rawId, 'PROXY', 1)}other.mp4`,
      inputKey(flow.tenantId, flow.context.ids.next(flow.clock.now())),
    ].sort();
    for (const key of orphans) await put(flow, key);
    await put(flow, 'beside/of-somebody-else');
    flow.clock.advance(flow.context.settings.orphanObjectAgeMs);
    expect(await sweep(flow)).toBe(0);
    expect(await findingsOf(flow)).toEqual([]);
    flow.clock.advance(1);
    expect(await sweep(flow)).toBe(orphans.length);
    expect(await keysOf(flow)).toEqual([...named, 'beside/of-somebody-else'].sort());
    expect(await findingsOf(flow)).toEqual(
      orphans.map((key) => ({
        subject_id: key,
        action_taken: 'deleted',
        resolution: 'deleted',
        detail: { modifiedAt: expect.any(String), sizeBytes: key.length },
        tenant_id: flow.tenantId,
        over: true,
      })),
    );
    expect(await sweep(flow)).toBe(0);
  });

  it('of a generation that lives, or has ended within the window, stays', async () => {
    const flow = await open();
    const { id } = await flow.submit();
    const attempt = await flow.attempt(id);
    const key = rawOutputKey(flow.tenantId, id, attempt.id, 0, 1);
    const stray = rawOutputKey(flow.tenantId, id, attempt.id, 5, 1);
    await put(flow, stray);
    windowOver(flow);
    expect(await sweep(flow)).toBe(0);
    await flow.finishJob(id);
    await flow.drain();
    expect((await flow.task(id)).status).toBe('SUCCEEDED');
    expect(await keysOf(flow)).toEqual(expect.arrayContaining([key, stray]));
    expect(await sweep(flow)).toBe(0);
    windowOver(flow);
    expect(await sweep(flow)).toBe(1);
    expect(await keysOf(flow)).not.toContain(stray);
  });

  it('in quarantine after its upload was used again goes, and a rejected upload stays for its week', async () => {
    let verdict: 'APPROVE' | 'REJECT' = 'APPROVE';
    const moderation: Moderation = {
      rulesVersion: 'test',
      judgePrompt: () => Promise.resolve({ verdict: 'APPROVE' }),
      judgeMedia: () => Promise.resolve({ verdict, reasonCode: 'LOOKS_WRONG' }),
    };
    const flow = await open({ moderation });
    const bytes = await makePicture();
    const { assetId, ticket } = await openUpload(flow, bytes);
    const { quarantineKey } = await readAsset(flow, assetId);
    await putBytes(ticket, bytes);
    await complete(flow, assetId);
    await flow.drain();
    expect(await keysOf(flow)).not.toContain(quarantineKey);
    expect(await putBytes(ticket, bytes)).toBe(200);
    expect(await keysOf(flow)).toContain(quarantineKey);
    verdict = 'REJECT';
    const rejected = await readAsset(flow, await uploadBytes(flow, bytes));
    await flow.drain();
    const opened = await openUpload(flow, bytes);
    await putBytes(opened.ticket, bytes);
    windowOver(flow);
    expect(await sweep(flow)).toBe(1);
    expect(await keysOf(flow)).toEqual(
      [
        inputKey(flow.tenantId, assetId),
        rejected.quarantineKey,
        (await readAsset(flow, opened.assetId)).quarantineKey,
      ].sort(),
    );
  });

  it('that is put again, or named, between the look and the deletion stays', async () => {
    const flow = await open();
    const { taskId, attemptId } = await success(flow);
    const again = rawOutputKey(flow.tenantId, taskId, attemptId, 0, 7);
    const named = rawOutputKey(flow.tenantId, taskId, attemptId, 0, 8);
    await put(flow, again);
    await put(flow, named);
    windowOver(flow);
    const { store } = flow.objectServer;
    const deletions: string[] = [];
    const deleted = await sweep(flow, {
      deleteIfOlder: async (key, before) => {
        deletions.push(key);
        expect((await put(flow, again)).outcome).toBe('reused');
        await flow.look(`UPDATE assets SET object_key = $1 WHERE kind = 'RAW_OUTPUT'`, [named]);
        return store.deleteIfOlder(key, before);
      },
    });
    expect(deleted).toBe(0);
    expect(deletions).toEqual([again]);
    expect(await keysOf(flow)).toEqual(expect.arrayContaining([again, named]));
    expect(
      (await findingsOf(flow)).map(({ action_taken, over }) => ({ action_taken, over })),
    ).toEqual([
      { action_taken: null, over: true },
      { action_taken: null, over: true },
    ]);
  });

  it('is found however many objects come before it: page by page, and round again', async () => {
    const flow = await open();
    const tenant = (key: string): string => `tenants/${flow.tenantId}/${key}`;
    const id = (index: number): string => `00000000-0000-7000-8000-00000000000${index}`;
    const keys = [1, 2, 3, 4, 5].map((index) => tenant(`assets/${id(index)}/source`));
    for (const key of keys) await put(flow, key);
    windowOver(flow);
    const pass = createObjectSweep(flow.context, flow.objectServer.store, 2);
    expect([await pass(), await pass(), await pass()]).toEqual([2, 2, 1]);
    await put(flow, keys[0] ?? '');
    windowOver(flow);
    expect(await pass()).toBe(1);
    expect(await keysOf(flow)).toEqual([]);
  });
});
