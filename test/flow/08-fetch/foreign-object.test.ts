import { Readable } from 'node:stream';

import { rawOutputKey } from '../../../src/domain/output/object-keys';
import { decideOutput } from '../../../src/flow/operate/decide-output';
import { rescueStuck } from '../../../src/flow/reconcile/recover-tasks';
import type { CrashPoint } from '../../../src/ports/crash-points';
import { useFlow, type Flow } from '../../support/flow-harness';
import { onlyProxy } from '../../support/flow/expectations';
import { SimulatedCrash } from '../../support/flow/message-driver';
import { ORDER } from '../../support/flow/operator';
import { placeForeign } from '../../support/flow/overwrite-object';
import { PRICE_MICROS } from '../../support/flow/seed-catalog';
import { digestOf, readObject } from '../../support/flow/uploads';

const open = useFlow();

const FOREIGN = Buffer.from('not what was paid for');

interface Fetchable {
  readonly flow: Flow;
  readonly id: string;
  readonly key: string;
}

/** A job that has ended well, with the message for the fetcher on the bus. */
const fetchable = async (): Promise<Fetchable> => {
  const flow = await open({ toolkit: onlyProxy });
  const { id } = await flow.submit();
  expect((await flow.finishJob(id)).status).toBe('OUTPUT_FETCHING');
  await flow.relay();
  return { flow, id, key: rawOutputKey(flow.tenantId, id, (await flow.attempt(id)).id, 0, 1) };
};

/** The fetcher dies there, and its message comes again. */
const dieAt = async ({ flow }: Fetchable, point: CrashPoint): Promise<void> => {
  flow.crashAt(point);
  await expect(flow.deliver('output-fetch')).rejects.toThrow(SimulatedCrash);
  flow.disarm();
  flow.clock.advance(16_000);
};

const truth = async ({ flow, id }: Fetchable): Promise<{ sha256: string; sizeBytes: number }> => {
  const [job] = await flow.jobs(id);
  if (job?.output == null) throw new Error('the job has no output');
  const { sha256, sizeBytes } = job.output;
  return { sha256, sizeBytes };
};

/** Neither delivered nor thrown away: a person is told of both, and then the right bytes are delivered, charged once. */
const expectPersonAsked = async (
  given: Fetchable,
  standing: Buffer = FOREIGN,
  fetched?: { sha256: string; sizeBytes: number },
): Promise<void> => {
  const { flow, id, key } = given;
  expect(await flow.task(id)).toMatchObject({ status: 'OUTPUT_FETCHING', needsOperator: true });
  const [finding, ...more] = await flow.look('SELECT kind, detail FROM findings');
  expect(more).toEqual([]);
  expect(finding).toMatchObject({
    kind: 'OBJECT_CONFLICT',
    detail: {
      taskId: id,
      fetched: fetched ?? (await truth(given)),
      standing: { sha256: digestOf(standing), sizeBytes: standing.length },
    },
  });
  expect(await readObject(flow, key)).toEqual(standing);
  flow.clock.advance(flow.context.settings.stuckAfterMs * 2);
  expect(await rescueStuck(flow.context)).toBe(0);
  const decided = await decideOutput(flow.context, id, { verdict: 'FETCH_NEXT', ...ORDER });
  expect(decided.kind).toBe('DONE');
  await flow.drain();
  expect((await flow.task(id)).status).toBe('SUCCEEDED');
  const { sha256 } = await truth(given);
  expect(
    await flow.look(`SELECT sha256 FROM assets WHERE kind = 'RAW_OUTPUT' AND task_id = $1`, [id]),
  ).toEqual([{ sha256 }]);
  expect(await readObject(flow, key)).toEqual(standing);
  expect(await flow.jobs(id)).toHaveLength(1);
  expect(await flow.ledger(id)).toMatchObject([
    { kind: 'RESERVE' },
    { kind: 'SETTLE', amount: PRICE_MICROS },
  ]);
};

describe('an object that stands at the raw key', () => {
  it('before anything was fetched is somebody else’s: a person is told of both digests', async () => {
    const given = await fetchable();
    await placeForeign(given.flow, given.key, FOREIGN);
    await given.flow.deliver('output-fetch');
    await expectPersonAsked(given);
  });

  it('and came after the fetcher had died short of the write is not taken for its own', async () => {
    const given = await fetchable();
    await dieAt(given, 'fetch.after_digest_before_publish');
    expect(await given.flow.objectServer.store.head(given.key)).toBeNull();
    await placeForeign(given.flow, given.key, FOREIGN);
    await given.flow.deliver('output-fetch');
    await expectPersonAsked(given);
  });

  it('and took the place of what the fetcher had stored is noticed, though it is as large', async () => {
    const given = await fetchable();
    await dieAt(given, 'fetch.after_put_before_db');
    const { sizeBytes } = await truth(given);
    const foreign = Buffer.alloc(sizeBytes, 'x');
    await placeForeign(given.flow, given.key, foreign);
    await given.flow.deliver('output-fetch');
    await expectPersonAsked(given, foreign);
  });

  it('and was stored by this attempt is adopted without a second download', async () => {
    const given = await fetchable();
    const { flow, id } = given;
    await dieAt(given, 'fetch.after_put_before_db');
    const opened = jest.spyOn(flow.fetch.source, 'open');
    await flow.deliver('output-fetch');
    expect(opened).not.toHaveBeenCalled();
    opened.mockRestore();
    expect((await flow.task(id)).status).toBe('POST_PROCESSING');
    expect((await flow.attempt(id)).rawWrite).toEqual({ key: given.key, ...(await truth(given)) });
    expect(await flow.findings()).toEqual([]);
  });

  it('and has the provider’s bytes, whoever wrote them, is used when they have been compared', async () => {
    const given = await fetchable();
    const { flow, id, key } = given;
    await dieAt(given, 'fetch.after_put_before_db');
    // As an earlier release left it, which noted nothing.
    await flow.pool.query('UPDATE task_attempts SET raw_write = NULL');
    await flow.deliver('output-fetch');
    expect((await flow.task(id)).status).toBe('POST_PROCESSING');
    expect(digestOf((await readObject(flow, key)) ?? FOREIGN)).toBe((await truth(given)).sha256);
    expect(await flow.findings()).toEqual([]);
  });

  it('and differs from what the provider serves the second time is left to a person', async () => {
    const given = await fetchable();
    const { flow, key } = given;
    await dieAt(given, 'fetch.after_put_before_db');
    await flow.pool.query('UPDATE task_attempts SET raw_write = NULL');
    const first = (await readObject(flow, key)) ?? FOREIGN;
    const other = Buffer.concat([first, Buffer.from('rendered again')]);
    const opened = jest.spyOn(flow.fetch.source, 'open').mockResolvedValueOnce({
      ...{ kind: 'OK', status: 200, rangeStart: 0, etag: null, acceptsRanges: false },
      sizeBytes: other.length,
      body: Readable.from([other]),
    });
    await flow.deliver('output-fetch');
    opened.mockRestore();
    await expectPersonAsked(given, first, { sha256: digestOf(other), sizeBytes: other.length });
  });
});
