import {
  expireOrphans,
  findHeldMismatches,
  rescueCosts,
  rescueDerivatives,
  resolveFindings,
} from '../../../src/flow/reconcile/find-anomalies';
import { createOrphanMatcher, rebuildSlots } from '../../../src/flow/reconcile/recover-resources';
import { endRetention, rescueStuck } from '../../../src/flow/reconcile/recover-tasks';
import { recordObservation } from '../../../src/flow/observe/record-observation';
import { MediaToolError } from '../../../src/ports/media-toolkit';
import { useFlow, type Flow } from '../../support/flow-harness';
import { onlyProxy } from '../../support/flow/expectations';
import { observation } from '../../support/flow/observations';

const open = useFlow();

const openFindings = async (flow: Flow): Promise<string[]> =>
  (await flow.look('SELECT kind FROM findings WHERE resolved_at IS NULL ORDER BY kind')).map(
    ({ kind }) => String(kind),
  );

const NOTHING = {
  LEDGER_MISMATCH: [0],
  UNBALANCED_HOLD: [0],
  SLOT_DRIFT: [],
  LOST_MESSAGE: [0, 0],
};

const stuckFor = (flow: Flow): void => flow.clock.advance(flow.context.settings.stuckAfterMs + 1);

const hearOf = (flow: Flow, jobId: string, requestKey: string | null = null): Promise<unknown> =>
  recordObservation(flow.context, {
    providerId: 'sandbox',
    accountId: 'sandbox-main',
    source: 'callback',
    sourceEventId: `event-${jobId}`,
    requestKey,
    observation: observation(jobId),
  });

describe('an event of a provider that belongs to nobody', () => {
  it('is given up when its time is over, counted once, and told as a finding', async () => {
    const flow = await open();
    await hearOf(flow, 'vid_of_nobody');
    await flow.drain();
    expect(await expireOrphans(flow.context)).toBe(0);
    flow.clock.advance(flow.context.settings.orphanEventTtlMs + 1);
    expect(await expireOrphans(flow.context)).toBe(1);
    expect(await expireOrphans(flow.context)).toBe(0);
    expect(await flow.findings()).toEqual(['ORPHAN_PROVIDER_EVENT']);
  });

  it('is matched within 5 s of its job being known', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: ['answer_lost', 'hang'] });
    const job = await flow.jobReached(id, 'queued', 'processing', 'running');
    await hearOf(flow, job.id);
    await flow.relay();
    await flow.deliver('reducer');
    const match = createOrphanMatcher(flow.context);
    expect(await match()).toBe(0);
    // The provider's list tells of the job.
    flow.clock.advance(5_000);
    await flow.relay();
    await flow.deliver('reconciler');
    await flow.relay();
    await flow.deliver('reducer');
    expect((await flow.attempt(id)).jobId).toBe(job.id);
    flow.clock.advance(3_000);
    expect(await match()).toBe(1);
    await flow.relay();
    await flow.deliver('reducer');
    expect(await flow.look('SELECT 1 FROM provider_events WHERE attempt_id IS NULL')).toEqual([]);
  });
});

describe('a finding', () => {
  it('of slots that drifted is over with the first pass that finds none', async () => {
    const flow = await open();
    await flow.submit({ fault: 'hang' });
    await flow.look('DELETE FROM slot_leases');
    await rebuildSlots(flow.context, flow.slots);
    expect(await openFindings(flow)).toEqual(['SLOT_DRIFT']);
    flow.clock.advance(10_000);
    const began = flow.clock.now();
    await rebuildSlots(flow.context, flow.slots);
    await resolveFindings(flow.context, began, NOTHING);
    expect(await openFindings(flow)).toEqual([]);
    // It opens again when it is seen again.
    await flow.look('DELETE FROM slot_leases');
    await rebuildSlots(flow.context, flow.slots);
    expect(await openFindings(flow)).toEqual(['SLOT_DRIFT']);
  });

  it('of slots tells leaked, missing and over-granted ones apart', async () => {
    const flow = await open();
    await flow.submit({ fault: 'hang' });
    await rebuildSlots(flow.context, flow.slots);
    expect(await openFindings(flow)).toEqual([]);
    await flow.look(
      `INSERT INTO slot_leases (holder, scopes, token, expires_at, created_at)
       VALUES (gen_random_uuid(), '{}', 1000000, $1, $1)`,
      [flow.clock.now()],
    );
    await flow.look(`UPDATE slot_scopes SET in_use = in_use + 2 WHERE scope = 'platform'`);
    const [platform] = await flow.look(
      `SELECT limit_max FROM slot_scopes WHERE scope = 'platform'`,
    );
    await rebuildSlots(flow.context, flow.slots);
    expect(await flow.look('SELECT kind, detail FROM findings')).toEqual([
      {
        kind: 'SLOT_DRIFT',
        detail: {
          leaked: 1,
          missing: 0,
          overGranted: [
            { scope: 'platform', counted: 3, leases: 1, limitMax: platform?.['limit_max'] },
          ],
        },
      },
    ]);
    await flow.look('DELETE FROM slot_leases');
    await rebuildSlots(flow.context, flow.slots);
    const [{ detail } = {}] = await flow.look('SELECT detail FROM findings');
    expect(detail).toMatchObject({ leaked: 0, missing: 1 });
  });

  it('of a task that stood still is over when it moves', async () => {
    const flow = await open();
    const { id } = await flow.create();
    await flow.relay();
    await flow.deliver('scheduler');
    await flow.relay();
    await flow.lose('provider');
    stuckFor(flow);
    expect(await rescueStuck(flow.context)).toBe(1);
    await resolveFindings(flow.context, flow.clock.now(), NOTHING);
    expect(await openFindings(flow)).toEqual(['STUCK_TASK']);
    flow.clock.advance(1);
    await flow.drain(['reducer']);
    expect((await flow.task(id)).status).toBe('SUBMITTED');
    await resolveFindings(flow.context, flow.clock.now(), NOTHING);
    expect(await openFindings(flow)).toEqual([]);
  });

  it('beyond what one look holds does not end while it is still there', async () => {
    const flow = await open();
    for (let i = 0; i < 100; i += 1) await flow.addTenant();
    await flow.look('UPDATE accounts SET held_micros = held_micros + 1');
    const seen = await findHeldMismatches(flow.context);
    expect(seen).toBe(100);
    flow.clock.advance(1);
    // None of them was seen since: the look at one kind was full, and that at others was not.
    const began = flow.clock.now();
    await resolveFindings(flow.context, began, { ...NOTHING, LEDGER_MISMATCH: [seen] });
    expect(await openFindings(flow)).toHaveLength(100);
    await flow.look('UPDATE accounts SET held_micros = held_micros - 1');
    await resolveFindings(flow.context, began, {
      ...NOTHING,
      LEDGER_MISMATCH: [await findHeldMismatches(flow.context)],
    });
    expect(await openFindings(flow)).toEqual([]);
  });

  it('tells of an account that holds another amount than its open holds, until they agree', async () => {
    const flow = await open();
    await flow.create();
    expect(await findHeldMismatches(flow.context)).toBe(0);
    await flow.look('UPDATE accounts SET held_micros = held_micros + 1');
    expect(await findHeldMismatches(flow.context)).toBe(1);
    expect(await openFindings(flow)).toEqual(['LEDGER_MISMATCH']);
    await flow.look('UPDATE accounts SET held_micros = held_micros - 1');
    flow.clock.advance(1);
    const began = flow.clock.now();
    expect(await findHeldMismatches(flow.context)).toBe(0);
    await resolveFindings(flow.context, began, NOTHING);
    expect(await openFindings(flow)).toEqual([]);
  });
});

describe('a lost message of what follows an end', () => {
  it('about a cost is asked for again, and the cost is booked once', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const { id } = await flow.submit();
    await flow.finishJob(id);
    await flow.relay();
    expect(await flow.lose('billing')).toHaveLength(1);
    await flow.drain();
    expect(await rescueCosts(flow.context)).toBe(0);
    stuckFor(flow);
    expect(await rescueCosts(flow.context)).toBe(1);
    await flow.drain();
    expect(await flow.look('SELECT 1 AS cost FROM provider_costs')).toEqual([{ cost: 1 }]);
    expect(await openFindings(flow)).toEqual(['LOST_MESSAGE']);
    flow.clock.advance(1);
    const began = flow.clock.now();
    expect(await rescueCosts(flow.context)).toBe(0);
    await resolveFindings(flow.context, began, NOTHING);
    expect(await openFindings(flow)).toEqual([]);
  });

  it('about a derivative that failed beside a playable output is asked for again', async () => {
    let broken = true;
    const flow = await open({
      toolkit: (real) => ({
        probe: real.probe,
        derive: (kind, ...rest) => {
          if (kind === 'PROXY') return real.derive(kind, ...rest);
          if (kind === 'HLS' && broken) return Promise.reject(new MediaToolError('broken', 'tool'));
          return kind === 'HLS' ? real.derive(kind, ...rest) : Promise.resolve(null);
        },
      }),
    });
    const { id } = await flow.submit();
    await flow.finishJob(id);
    await flow.drain();
    expect((await flow.task(id)).status).toBe('SUCCEEDED');
    flow.clock.advance(60_000);
    await flow.relay();
    expect(await flow.lose('media')).toHaveLength(1);
    expect(await rescueDerivatives(flow.context)).toBe(0);
    stuckFor(flow);
    stuckFor(flow);
    broken = false;
    expect(await rescueDerivatives(flow.context)).toBe(1);
    await flow.drain();
    expect(
      await flow.look(`SELECT status FROM assets WHERE kind = 'HLS' AND task_id = $1`, [id]),
    ).toEqual([{ status: 'READY' }]);
    stuckFor(flow);
    expect(await rescueDerivatives(flow.context)).toBe(0);
  });
});

describe('an output that waits for a person', () => {
  it('expires when nobody helped within the window and the provider serves it no longer', async () => {
    const flow = await open();
    const { id } = await flow.submit();
    await flow.finishJob(id);
    await flow.relay();
    await flow.lose('output-fetch');
    await flow.look('UPDATE generation_tasks SET needs_operator = true, updated_at = $1', [
      flow.clock.now(),
    ]);
    flow.clock.advance(flow.context.settings.mediaReviewWindowMs + 1);
    await flow.look('UPDATE task_attempts SET output_url_expires_at = $1', [
      new Date(flow.clock.now().getTime() + 1_000),
    ]);
    expect(await endRetention(flow.context)).toBe(0);
    flow.clock.advance(1_000);
    expect(await endRetention(flow.context)).toBe(1);
    expect(await flow.task(id)).toMatchObject({
      status: 'EXPIRED',
      lastErrorCode: 'OUTPUT_RETENTION_OVER',
    });
    expect((await flow.balance()).heldMicros).toBe(0n);
  });
});
