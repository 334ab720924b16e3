import { appendFile, readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';

import { derivativePrefix, PIPELINE_VERSION } from '../../../src/domain/output/object-keys';
import { decideAssetReview } from '../../../src/flow/operate/decide-review';
import { rescueStuck } from '../../../src/flow/reconcile/recover-tasks';
import {
  MediaToolError,
  type Derivative,
  type DerivativeKind,
  type MediaToolkit,
} from '../../../src/ports/media-toolkit';
import type { Moderation, ModerationVerdict } from '../../../src/ports/moderation';
import { useFlow, type CreateChanges, type Flow } from '../../support/flow-harness';
import { expectRepeatStopped, onlyProxy } from '../../support/flow/expectations';
import { SimulatedCrash } from '../../support/flow/message-driver';
import { PRICE_MICROS } from '../../support/flow/seed-catalog';
import { forgeBytes, placeForeign } from '../../support/flow/overwrite-object';
import { digestOf, readObject } from '../../support/flow/uploads';

const open = useFlow();

/** A fetched output, with the message for the media worker on the bus. */
const processable = async (flow: Flow, changes: CreateChanges = {}): Promise<string> => {
  const { id } = await flow.submit(changes);
  await flow.finishJob(id);
  await flow.drain(['media']);
  expect((await flow.task(id)).status).toBe('POST_PROCESSING');
  return id;
};

const assetsOf = async (flow: Flow, taskId: string): Promise<Record<string, string>> => {
  const rows = await flow.look('SELECT kind, status FROM assets WHERE task_id = $1 ORDER BY kind', [
    taskId,
  ]);
  return Object.fromEntries(rows.map((row) => [String(row['kind']), String(row['status'])]));
};

/** Of the derivatives only proxy and HLS are made; `fails` says when one of them does not. */
const failing =
  (fails: (kind: DerivativeKind, run: number) => 'tool' | 'corrupt' | null) =>
  (real: MediaToolkit): MediaToolkit => {
    const runs = new Map<DerivativeKind, number>();
    return {
      probe: real.probe,
      derive: async (kind, ...rest) => {
        if (kind !== 'PROXY' && kind !== 'HLS') return null;
        const run = (runs.get(kind) ?? 0) + 1;
        runs.set(kind, run);
        const reason = fails(kind, run);
        if (reason !== null) throw new MediaToolError('as asked', reason);
        return real.derive(kind, ...rest);
      },
    };
  };

const judging = (judgeOutput: () => ModerationVerdict): Moderation => ({
  rulesVersion: 'test-1',
  judgePrompt: () => Promise.resolve({ verdict: 'APPROVE' }),
  judgeMedia: () => Promise.resolve(judgeOutput()),
});

describe('media', () => {
  it('makes every derivative, and success, settlement and playable asset are one', async () => {
    const flow = await open();
    const id = await processable(flow);
    await flow.deliver('media');
    expect(await flow.task(id)).toMatchObject({ status: 'SUCCEEDED', progress: 100 });
    const assets = await assetsOf(flow, id);
    expect(assets).toMatchObject({
      RAW_OUTPUT: 'READY',
      PROXY: 'READY',
      HLS: 'READY',
      THUMBNAIL: 'READY',
      STORYBOARD: 'READY',
    });
    const { outputAssetId } = await flow.task(id);
    const [output] = await flow.look('SELECT kind, object_key FROM assets WHERE id = $1', [
      outputAssetId,
    ]);
    expect(output).toMatchObject({ kind: 'PROXY' });
    expect(await readObject(flow, String(output?.['object_key']))).not.toBeNull();
    expect(await flow.ledger(id)).toMatchObject([
      { kind: 'RESERVE' },
      { kind: 'SETTLE', amount: PRICE_MICROS },
    ]);
  });

  test('the inbox of media stops a repeat', async () => {
    const flow = await open({ toolkit: onlyProxy });
    await processable(flow);
    await expectRepeatStopped(flow, 'media');
  });

  it('run twice at once has one success, one settlement and one row of each kind', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const id = await processable(flow);
    const answers = await flow.deliverAtOnce('media', 2);
    expect(answers.filter(({ kind }) => kind === 'APPLIED')).toHaveLength(1);
    expect((await flow.task(id)).status).toBe('SUCCEEDED');
    expect(await flow.look('SELECT id FROM assets')).toHaveLength(2);
    expect(await flow.ledger(id)).toHaveLength(2);
  });

  it.each([
    'media.after_probe_before_derive',
    'media.after_derive_before_put',
    'media.after_put_before_db',
    'finish.before_commit',
    'finish.after_commit_before_ack',
  ] as const)('that dies at %s ends the same', async (point) => {
    const flow = await open({ toolkit: onlyProxy });
    const id = await processable(flow);
    flow.crashAt(point);
    await expect(flow.deliver('media')).rejects.toThrow(SimulatedCrash);
    flow.disarm();
    flow.clock.advance(16_000);
    await flow.deliver('media');
    expect((await flow.task(id)).status).toBe('SUCCEEDED');
    expect(await assetsOf(flow, id)).toEqual({ RAW_OUTPUT: 'READY', PROXY: 'READY' });
    expect(await flow.ledger(id)).toHaveLength(2);
  });

  it('without HLS is a success, and HLS alone is tried again', async () => {
    const flow = await open({
      toolkit: failing((kind, run) => (kind === 'HLS' && run === 1 ? 'tool' : null)),
    });
    const id = await processable(flow);
    await flow.deliver('media');
    expect((await flow.task(id)).status).toBe('SUCCEEDED');
    expect(await assetsOf(flow, id)).toEqual({ RAW_OUTPUT: 'READY', PROXY: 'READY' });
    const { version } = await flow.task(id);
    flow.clock.advance(60_000);
    await flow.drain();
    expect(await assetsOf(flow, id)).toEqual({ RAW_OUTPUT: 'READY', PROXY: 'READY', HLS: 'READY' });
    expect((await flow.task(id)).version).toBe(version);
  });

  it('whose HLS never succeeds stops trying, and tells a person', async () => {
    let runs = 0;
    const flow = await open({
      toolkit: failing((kind) => {
        if (kind !== 'HLS') return null;
        runs += 1;
        return 'tool';
      }),
    });
    await processable(flow);
    for (let tries = 0; tries < 10; tries += 1) {
      await flow.drain();
      flow.clock.advance(120_000);
    }
    expect(runs).toBe(4);
    expect(await flow.findings()).toEqual(['MEDIA_BUDGET_EXHAUSTED']);
  });

  it('whose proxy fails is tried again, and then waits for a person with everything kept', async () => {
    const flow = await open({ toolkit: failing((kind) => (kind === 'PROXY' ? 'tool' : null)) });
    const id = await processable(flow);
    for (let tries = 0; tries < 6; tries += 1) {
      await flow.drain();
      flow.clock.advance(120_000);
      await rescueStuck(flow.context);
    }
    expect(await flow.task(id)).toMatchObject({
      status: 'POST_PROCESSING',
      needsOperator: true,
      mediaTries: 3,
    });
    expect(await flow.findings()).toEqual(['MEDIA_BUDGET_EXHAUSTED']);
    expect(await flow.ledger(id)).toMatchObject([{ kind: 'RESERVE' }]);
  });

  it('fetches a corrupt output again under a new key, never over the old one', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const id = await processable(flow);
    const [raw] = await flow.look('SELECT object_key FROM assets WHERE task_id = $1', [id]);
    const key = String(raw?.['object_key']);
    // What arrived was torn on the way to the disk.
    const bytes = (await readObject(flow, key)) ?? Buffer.alloc(0);
    const { store } = flow.objectServer;
    await store.delete(key);
    await store.putStream(key, Readable.from([bytes.subarray(0, 30)]), {
      contentType: 'video/mp4',
      sizeBytesMax: 100,
    });
    await flow.drain();
    expect(await flow.task(id)).toMatchObject({ status: 'SUCCEEDED', rawGeneration: 2 });
    expect((await flow.history(id)).filter((type) => type === 'raw_corrupt')).toHaveLength(1);
    expect((await readObject(flow, key))?.length).toBe(30);
    expect(await flow.jobs(id)).toHaveLength(1);
  });

  it('never makes bytes playable that were not fetched, whatever is noted beside them', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const id = await processable(flow);
    const [raw] = await flow.look('SELECT object_key, sha256 FROM assets WHERE task_id = $1', [id]);
    // A player reads it like the one that was fetched.
    const foundSha256 = await forgeBytes(flow, String(raw?.['object_key']), (bytes) =>
      Buffer.concat([bytes, Buffer.from([0, 0, 0, 8]), Buffer.from('free')]),
    );
    await flow.drain();
    expect(await flow.task(id)).toMatchObject({ status: 'SUCCEEDED', rawGeneration: 2 });
    expect(await flow.look('SELECT kind, detail FROM findings')).toMatchObject([
      {
        kind: 'OBJECT_CONFLICT',
        detail: {
          taskId: id,
          fetched: { sha256: raw?.['sha256'] },
          standing: { sha256: foundSha256 },
        },
      },
    ]);
    expect(
      await flow.look(`SELECT status, sha256 FROM assets WHERE kind = 'RAW_OUTPUT' ORDER BY id`),
    ).toEqual([
      { status: 'FAILED', sha256: raw?.['sha256'] },
      { status: 'READY', sha256: raw?.['sha256'] },
    ]);
    expect(await flow.jobs(id)).toHaveLength(1);
    expect(await flow.ledger(id)).toHaveLength(2);
  });

  it('replaces what somebody else has put where a derivative belongs', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const id = await processable(flow);
    const [raw] = await flow.look('SELECT id FROM assets WHERE task_id = $1', [id]);
    const prefix = derivativePrefix(flow.tenantId, String(raw?.['id']), 'PROXY', PIPELINE_VERSION);
    await placeForeign(flow, `${prefix}proxy.mp4`, Buffer.from('not the result'));
    await flow.drain();
    const [proxy] = await flow.look(
      `SELECT object_key, sha256 FROM assets WHERE kind = 'PROXY' AND status = 'READY'`,
    );
    expect(proxy?.['object_key']).toBe(`${prefix}proxy.mp4`);
    const served = (await readObject(flow, `${prefix}proxy.mp4`)) ?? Buffer.alloc(0);
    expect(digestOf(served)).toBe(proxy?.['sha256']);
  });

  it('of a run that comes last leaves the files alone for which a row vouches already', async () => {
    let handleAgain: (() => Promise<unknown>) | null = null;
    let proxies = 0;
    const flow = await open({
      toolkit: (real) => ({
        probe: real.probe,
        derive: async (kind, input, folder, options) => {
          if (kind !== 'PROXY') return null;
          proxies += 1;
          const derivative = await real.derive(kind, input, folder, options);
          const [file] = derivative?.files ?? [];
          if (proxies > 1 || handleAgain === null || file === undefined) return derivative;
          // Another worker does all of it meanwhile, and its encoder says it in other bytes.
          await handleAgain();
          await appendFile(file.path, Buffer.from([0, 0, 0, 8, 102, 114, 101, 101]));
          const bytes = await readFile(file.path);
          return {
            ...derivative,
            files: [{ ...file, sizeBytes: bytes.length, sha256: digestOf(bytes) }],
          } as Derivative;
        },
      }),
    });
    const id = await processable(flow);
    const [message] = await flow.lose('media');
    if (message === undefined) throw new Error('nothing is to be made playable');
    handleAgain = () => flow.replay(message);
    await handleAgain();
    expect(proxies).toBe(2);
    expect((await flow.task(id)).status).toBe('SUCCEEDED');
    const [proxy] = await flow.look(`SELECT object_key, sha256 FROM assets WHERE kind = 'PROXY'`);
    const served = (await readObject(flow, String(proxy?.['object_key']))) ?? Buffer.alloc(0);
    expect(digestOf(served)).toBe(proxy?.['sha256']);
    expect(await flow.ledger(id)).toHaveLength(2);
  });

  it('whose message was lost is asked for again; one that is long at work is not', async () => {
    let flowOfTool: Flow | null = null;
    const flow = await open({
      toolkit: (real) => ({
        probe: real.probe,
        derive: async (kind, ...rest) => {
          if (kind !== 'PROXY' || flowOfTool === null) return null;
          // The tool works for minutes; the reconciler looks in.
          flowOfTool.clock.advance(flowOfTool.context.settings.stuckAfterMs * 3);
          expect(await rescueStuck(flowOfTool.context)).toBe(0);
          return real.derive(kind, ...rest);
        },
      }),
    });
    flowOfTool = flow;
    const id = await processable(flow);
    expect(await flow.lose('media')).toHaveLength(1);
    flow.clock.advance(flow.context.settings.stuckAfterMs + 1);
    expect(await rescueStuck(flow.context)).toBe(1);
    await flow.drain();
    expect((await flow.task(id)).status).toBe('SUCCEEDED');
  });
});

describe('the verdict on an output', () => {
  it('of the rules is final: failed, nothing playable, settled by the contract', async () => {
    const flow = await open({
      toolkit: onlyProxy,
      moderation: judging(() => ({ verdict: 'REJECT', reasonCode: 'KNOWN_FILE' })),
    });
    const id = await processable(flow);
    await flow.drain();
    expect(await flow.task(id)).toMatchObject({
      status: 'FAILED_FINAL',
      lastErrorCode: 'OUTPUT_REJECTED',
    });
    expect(await assetsOf(flow, id)).toEqual({ RAW_OUTPUT: 'REJECTED' });
    expect(await flow.ledger(id)).toMatchObject([
      { kind: 'RESERVE' },
      { kind: 'RELEASE', reason: 'CHARGED_PLATFORM_BEARS' },
    ]);
  });

  it.each([
    ['REJECT', 'FAILED_FINAL', { RAW_OUTPUT: 'REJECTED', HLS: 'REJECTED' }],
    ['REVIEW', 'SUCCEEDED', { RAW_OUTPUT: 'IN_REVIEW', HLS: 'IN_REVIEW', PROXY: 'IN_REVIEW' }],
  ] as const)(
    '%s takes back what an earlier run had made already',
    async (verdict, status, assets) => {
      let runs = 0;
      const flow = await open({
        toolkit: failing((kind, run) => (kind === 'PROXY' && run === 1 ? 'tool' : null)),
        moderation: judging(() => {
          runs += 1;
          return runs === 1 ? { verdict: 'APPROVE' } : { verdict, reasonCode: 'KNOWN_FILE' };
        }),
      });
      const id = await processable(flow);
      await flow.deliver('media');
      expect((await assetsOf(flow, id))['HLS']).toBe('READY');
      flow.clock.advance(120_000);
      await flow.drain();
      expect((await flow.task(id)).status).toBe(status);
      expect(await assetsOf(flow, id)).toEqual(assets);
    },
  );

  it.each([
    ['APPROVE', 'READY'],
    ['REJECT', 'REJECTED'],
  ] as const)(
    'left to a person ends the task, and %s makes all of it %s',
    async (verdict, status) => {
      const flow = await open({
        toolkit: failing((kind, run) => (kind === 'HLS' && run === 1 ? 'tool' : null)),
        moderation: judging(() => ({ verdict: 'REVIEW', reasonCode: 'KNOWN_FILE' })),
      });
      const id = await processable(flow);
      await flow.deliver('media');
      expect((await flow.task(id)).status).toBe('SUCCEEDED');
      expect(await assetsOf(flow, id)).toEqual({ RAW_OUTPUT: 'IN_REVIEW', PROXY: 'IN_REVIEW' });
      // What is missing is made meanwhile, and is no more playable than the rest.
      flow.clock.advance(60_000);
      await flow.drain();
      expect(await assetsOf(flow, id)).toEqual({
        RAW_OUTPUT: 'IN_REVIEW',
        PROXY: 'IN_REVIEW',
        HLS: 'IN_REVIEW',
      });
      const { outputAssetId } = await flow.task(id);
      await decideAssetReview(flow.context, outputAssetId ?? '', {
        verdict,
        actor: 'operator:1',
        reason: 'seen',
      });
      expect(await assetsOf(flow, id)).toEqual({ RAW_OUTPUT: status, PROXY: status, HLS: status });
      expect((await flow.task(id)).status).toBe('SUCCEEDED');
      const kinds = (await flow.ledger(id)).map(({ kind }) => kind);
      expect(kinds).toEqual(['RESERVE', 'SETTLE', ...(verdict === 'REJECT' ? ['REFUND'] : [])]);
    },
  );

  it('of a person who rejects while HLS is being made is not undone by it', async () => {
    let flowOfTool: Flow | null = null;
    let outputAssetId = '';
    const flow = await open({
      moderation: judging(() => ({ verdict: 'REVIEW', reasonCode: 'KNOWN_FILE' })),
      toolkit: (real) => {
        const made = failing((kind, run) => (kind === 'HLS' && run === 1 ? 'tool' : null))(real);
        return {
          probe: made.probe,
          derive: async (kind, ...rest) => {
            if (kind === 'HLS' && outputAssetId !== '' && flowOfTool !== null) {
              await decideAssetReview(flowOfTool.context, outputAssetId, {
                verdict: 'REJECT',
                actor: 'operator:1',
                reason: 'seen',
              });
            }
            return made.derive(kind, ...rest);
          },
        };
      },
    });
    flowOfTool = flow;
    const id = await processable(flow);
    await flow.deliver('media');
    outputAssetId = (await flow.task(id)).outputAssetId ?? '';
    flow.clock.advance(60_000);
    await flow.drain();
    expect(await assetsOf(flow, id)).toEqual({ RAW_OUTPUT: 'REJECTED', PROXY: 'REJECTED' });
  });
});
