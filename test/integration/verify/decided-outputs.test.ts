import { Readable } from 'node:stream';

import { storedEvidence } from '../../../src/adapters/object-store/disk/stored-evidence';
import { rawOutputKey } from '../../../src/domain/output/object-keys';
import { decideOutput, type OutputVerdict } from '../../../src/flow/operate/decide-output';
import { createObjectSweep } from '../../../src/flow/reconcile/sweep-objects';
import type { Evidence } from '../../../src/ports/verification';
import { onlyProxy } from '../../support/flow/expectations';
import { useFlow, type Flow } from '../../support/flow-harness';
import { ORDER } from '../../support/flow/operator';
import { forgeBytes, placeForeign } from '../../support/flow/overwrite-object';
import {
  complete,
  makePicture,
  openUpload,
  putBytes,
  readAsset,
  readObject,
} from '../../support/flow/uploads';
import { verifyDatabase } from './sound-facts';

const OF_OBJECTS = ['ready_assets_stored', 'no_orphan_objects', 'stored_as_told', 'bytes_as_told'];
const FOREIGN = Buffer.from('not what was paid for');

const open = useFlow();

/** What `verify --deep` says of the store, once all has settled. */
const violations = async (flow: Flow): Promise<{ invariant: string; subject: string }[]> => {
  const evidence: Evidence[] = [];
  const { root } = flow.objectServer.store.options;
  for await (const each of storedEvidence(root, () => undefined)) evidence.push(each);
  const now = new Date(flow.clock.now().getTime() + 3_600_000);
  const report = await verifyDatabase(flow.database.url, now, evidence, OF_OBJECTS);
  expect(report.checked.map(({ name }) => name).sort()).toEqual([...OF_OBJECTS].sort());
  expect(evidence.length).toBeGreaterThan(1);
  return report.violations.map(({ invariant, subject }) => ({ invariant, subject }));
};

/** A job that has ended well. */
const finished = async (flow: Flow): Promise<{ id: string; keyOf: (raw: number) => string }> => {
  const { id } = await flow.submit();
  expect((await flow.finishJob(id)).status).toBe('OUTPUT_FETCHING');
  const attemptId = (await flow.attempt(id)).id;
  return { id, keyOf: (raw) => rawOutputKey(flow.tenantId, id, attemptId, 0, raw) };
};

const put = (flow: Flow, key: string) =>
  flow.objectServer.store.putStream(key, Readable.from([Buffer.from(key)]), {
    ...{ contentType: 'video/mp4', sizeBytesMax: key.length },
  });

/** The sweep of a reconciler, `orphanObjectAgeMs` later. */
const sweepLater = (flow: Flow): Promise<number> => {
  flow.clock.advance(flow.context.settings.orphanObjectAgeMs + 1);
  return createObjectSweep(flow.context, flow.objectServer.store)();
};

describe('the store after a decided conflict of an output', () => {
  it.each<[OutputVerdict, string]>([
    ['FETCH_NEXT', 'SUCCEEDED'],
    ['GIVE_UP', 'FAILED_FINAL'],
  ])('is sound by %s, and the foreign object is swept after its day', async (verdict, end) => {
    const flow = await open({ toolkit: onlyProxy });
    const neighbour = await finished(flow);
    await flow.drain();
    const { id, keyOf } = await finished(flow);
    await flow.relay();
    await placeForeign(flow, keyOf(1), FOREIGN);
    await flow.deliver('output-fetch');
    expect(await flow.findings()).toEqual(['OBJECT_CONFLICT']);
    const decided = await decideOutput(flow.context, id, { verdict, ...ORDER });
    expect(decided.kind).toBe('DONE');
    await flow.drain();
    expect((await flow.task(id)).status).toBe(end);
    expect(await readObject(flow, keyOf(1))).toEqual(FOREIGN);
    expect(await violations(flow)).toEqual([]);

    // The noted checksum of a foreign object is foreign, too.
    await forgeBytes(flow, keyOf(1), () => Buffer.from('not what was noted...'));
    expect(await violations(flow)).toEqual([]);

    // The finding explains no key that the attempt never had, and no other attempt.
    const orphans = [keyOf(7), neighbour.keyOf(2)];
    for (const key of orphans) await put(flow, key);
    expect(await violations(flow)).toEqual(
      [...orphans].sort().map((subject) => ({ invariant: 'no_orphan_objects', subject })),
    );

    expect(await sweepLater(flow)).toBe(3);
    expect(await readObject(flow, keyOf(1))).toBeNull();
    expect(await violations(flow)).toEqual([]);
  });
});

describe('the store after a stored output was found damaged and fetched again', () => {
  const healed = async (damage: (flow: Flow, key: string) => Promise<unknown>): Promise<void> => {
    const flow = await open({ toolkit: onlyProxy });
    const { id, keyOf } = await finished(flow);
    await flow.drain(['media']);
    await damage(flow, keyOf(1));
    await flow.drain();
    expect(await flow.task(id)).toMatchObject({ status: 'SUCCEEDED', rawGeneration: 2 });
    expect(
      await flow.look(`SELECT status FROM assets WHERE kind = 'RAW_OUTPUT' ORDER BY id`),
    ).toEqual([{ status: 'FAILED' }, { status: 'READY' }]);
    expect(await violations(flow)).toEqual([]);
    // What vouches is the row of the second.
    await forgeBytes(flow, keyOf(2), (bytes) => Buffer.alloc(bytes.length, 'x'));
    expect((await violations(flow)).map(({ invariant }) => invariant)).toEqual(['bytes_as_told']);
  };

  it('is sound where the bytes were damaged under what is noted', () =>
    healed((flow, key) =>
      forgeBytes(flow, key, (bytes) => Buffer.concat([bytes, Buffer.from('torn')])),
    ));

  it('is sound where another object took its place', () =>
    healed((flow, key) => placeForeign(flow, key, FOREIGN)));
});

describe('the store after an upload was rejected for its bytes', () => {
  it('is sound while the quarantine keeps them, whatever is noted beside them', async () => {
    const flow = await open();
    const picture = await makePicture();
    const { assetId, ticket } = await openUpload(flow, picture);
    await putBytes(ticket, picture);
    const { quarantineKey } = await readAsset(flow, assetId);
    await complete(flow, assetId);
    await forgeBytes(flow, quarantineKey ?? '', (bytes) => Buffer.alloc(bytes.length, 'x'));
    await flow.drain();
    expect((await readAsset(flow, assetId)).status).toBe('REJECTED');
    expect(await readObject(flow, quarantineKey ?? '')).not.toBeNull();
    expect(await violations(flow)).toEqual([]);
  });
});
