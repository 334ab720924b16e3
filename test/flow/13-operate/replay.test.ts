import { recordObservation } from '../../../src/flow/observe/record-observation';
import { replayMessage } from '../../../src/flow/operate/replay-message';
import { replayProviderEvent } from '../../../src/flow/operate/replay-provider-event';
import { resolveFinding } from '../../../src/flow/operate/resolve-finding';
import { useFlow, type Flow } from '../../support/flow-harness';
import { countEffects, onlyProxy } from '../../support/flow/expectations';
import { observation, reduceAll } from '../../support/flow/observations';
import { auditOf, expectRefused, letDie, NOBODY, ORDER } from '../../support/flow/operator';

const open = useFlow();

const replay = (flow: Flow, eventId: string, order = ORDER) =>
  replayMessage(flow.context, flow.bus, eventId, order);
const replayEvent = (flow: Flow, id: string) =>
  replayProviderEvent(flow.context, flow.bus, id, ORDER);

describe('a dead message', () => {
  it('of the outbox leaves it again, under its own id', async () => {
    const flow = await open();
    const { id } = await flow.create();
    await flow.look(
      `UPDATE outbox_events SET status = 'DEAD', publish_attempts = 30, last_error = 'no bus'
       WHERE type = 'generation.queued'`,
    );
    await flow.drain(['reducer']);
    const [dead] = await flow.look(`SELECT id FROM outbox_events WHERE status = 'DEAD'`);
    const eventId = String(dead?.['id']);
    const outcomes = await Promise.all([replay(flow, eventId), replay(flow, eventId)]);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['DONE', 'REFUSED']);
    expect(outcomes.find(({ kind }) => kind === 'REFUSED')).toMatchObject({ code: 'NOT_DEAD' });
    await flow.drain(['reducer']);
    expect((await flow.task(id)).status).toBe('SUBMITTED');
    const inbox = await flow.look(`SELECT 1 FROM inbox_dedup WHERE event_id = $1`, [eventId]);
    expect(inbox).toHaveLength(1);
    await expectRefused(flow, 'ALREADY_HANDLED', () => replay(flow, eventId));
  });

  it('of the bus is delivered again to the group that gave it up, and applied once', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const { id } = await flow.submit();
    await flow.finishJob(id);
    await flow.relay();
    const eventId = await letDie(flow, 'output-fetch');
    const outcomes = await Promise.all([replay(flow, eventId), replay(flow, eventId)]);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['DONE', 'REFUSED']);
    await flow.drain();
    expect((await flow.task(id)).status).toBe('SUCCEEDED');
    const before = await countEffects(flow);
    expect(await replay(flow, eventId)).toMatchObject({ code: 'ALREADY_HANDLED' });
    expect(await countEffects(flow)).toEqual(before);
  });

  it.each([
    [
      'in the outbox',
      (flow: Flow, eventId: string) =>
        flow.look(`UPDATE outbox_events SET status = 'DEAD' WHERE id = $1`, [eventId]),
    ],
    [
      'on the bus',
      (flow: Flow, eventId: string) =>
        flow.look(
          `INSERT INTO bus_messages (consumer_group, event_id, type, envelope, status, available_at, deliveries, created_at)
           SELECT 'output-fetch', id, type, jsonb_build_object(
             'eventId', id, 'eventType', type, 'schemaVersion', schema_version, 'aggregateId', aggregate_id,
             'aggregateVersion', aggregate_version, 'tenantId', tenant_id, 'traceId', trace_id,
             'causationId', causation_id, 'occurredAt', to_char(occurred_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
             'payload', payload), 'DEAD', available_at, 50, occurred_at
           FROM outbox_events WHERE id = $1`,
          [eventId],
        ),
    ],
  ])('%s that its reader has handled meanwhile ends, and changes nothing', async (_, bury) => {
    const flow = await open({ toolkit: onlyProxy });
    const { id } = await flow.submit();
    await flow.finishJob(id);
    await flow.drain();
    expect((await flow.task(id)).status).toBe('SUCCEEDED');
    const [handled] = await flow.look(
      `SELECT id FROM outbox_events WHERE type = 'output.fetch.requested'`,
    );
    const eventId = String(handled?.['id']);
    await bury(flow, eventId);
    const before = await countEffects(flow);
    expect(await replay(flow, eventId)).toMatchObject({ kind: 'DONE' });
    await flow.drain();
    expect(
      await flow.look(
        `SELECT event_id AS id FROM bus_messages
         UNION ALL SELECT id FROM outbox_events WHERE status <> 'PUBLISHED'`,
      ),
    ).toEqual([]);
    expect(await countEffects(flow)).toEqual(before);
    await expectRefused(flow, 'ALREADY_HANDLED', () => replay(flow, eventId));
  });

  it('is asked for by its id, with a reason, and only when it is dead', async () => {
    const flow = await open();
    await flow.create();
    const [waiting] = await flow.look(`SELECT id FROM outbox_events LIMIT 1`);
    const eventId = String(waiting?.['id']);
    await expectRefused(flow, 'NOT_DEAD', () => replay(flow, eventId));
    await expectRefused(flow, 'REASON_REQUIRED', () =>
      replay(flow, eventId, { ...ORDER, reason: '' }),
    );
    await expectRefused(flow, 'NOT_FOUND', () => replay(flow, NOBODY));
  });
});

describe('a stored callback', () => {
  const storedOf = async (flow: Flow): Promise<string> => {
    const [event] = await flow.look(`SELECT id FROM provider_events ORDER BY id DESC LIMIT 1`);
    return String(event?.['id']);
  };

  it('whose message was lost is judged, once, as the same event', async () => {
    const flow = await open();
    const { id } = await flow.submit();
    await flow.jobReached(id);
    await flow.poll();
    await flow.relay();
    await flow.lose('reducer');
    const eventId = await storedOf(flow);
    expect(await replayEvent(flow, eventId)).toMatchObject({ kind: 'DONE' });
    await reduceAll(flow);
    expect((await flow.task(id)).status).toBe('OUTPUT_FETCHING');
    expect(await flow.look('SELECT 1 FROM provider_events')).toHaveLength(1);
    await expectRefused(flow, 'ALREADY_HANDLED', () => replayEvent(flow, eventId));
  });

  it('whose job was unknown then finds its attempt now', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: ['answer_lost', 'hang'] });
    const [job] = await flow.jobs(id);
    const attempt = await flow.attempt(id);
    await recordObservation(flow.context, {
      providerId: 'sandbox',
      accountId: attempt.accountId,
      source: 'callback',
      sourceEventId: 'evt-early',
      requestKey: null,
      observation: observation(job?.id ?? ''),
    });
    await reduceAll(flow);
    const eventId = await storedOf(flow);
    await flow.look('UPDATE task_attempts SET job_id = $1 WHERE id = $2', [job?.id, attempt.id]);
    expect(await replayEvent(flow, eventId)).toMatchObject({ result: { messageId: null } });
    await reduceAll(flow);
    expect((await flow.attempt(id)).status).toBe('RUNNING');
    expect(await auditOf(flow)).toMatchObject([{ action: 'provider_event.replay', refused: null }]);
  });

  it('that is not there is not found', async () => {
    const flow = await open();
    await expectRefused(flow, 'NOT_FOUND', () => replayEvent(flow, NOBODY));
  });
});

describe('a finding', () => {
  it('is resolved once, by somebody, for a reason, and opens again when it is seen again', async () => {
    const flow = await open();
    const record = () =>
      flow.context.uow.stores.findings.record({
        id: flow.context.ids.next(flow.clock.now()),
        kind: 'SLOT_DRIFT',
        subjectKind: 'slot',
        subjectId: 'platform',
        tenantId: null,
        detail: {},
        actionTaken: null,
        now: flow.clock.now(),
      });
    await record();
    const [row] = await flow.look('SELECT id FROM findings');
    const id = String(row?.['id']);
    const resolve = () => resolveFinding(flow.context, id, ORDER);
    const outcomes = await Promise.all([resolve(), resolve()]);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['DONE', 'REFUSED']);
    expect(await flow.look('SELECT resolved_by, resolution FROM findings')).toEqual([
      { resolved_by: ORDER.actor, resolution: ORDER.reason },
    ]);
    await expectRefused(flow, 'ALREADY_RESOLVED', resolve);
    await record();
    expect(await flow.look('SELECT resolved_at FROM findings')).toEqual([{ resolved_at: null }]);
    expect(await resolve()).toMatchObject({ kind: 'DONE' });
    await expectRefused(flow, 'NOT_FOUND', () => resolveFinding(flow.context, NOBODY, ORDER));
  });
});
