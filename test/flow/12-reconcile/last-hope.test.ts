import { useFlow, type Flow } from '../../support/flow-harness';
import { reduceAll, say } from '../../support/flow/observations';

const open = useFlow();

/** A cancel that waits for nothing but an earlier attempt, which was given up for lost: the newest was refused. */
const cancelWithLostAttempt = async (flow: Flow): Promise<string> => {
  const { id } = await flow.submit({ fault: 'not_created_lost' });
  await flow.look('UPDATE providers SET absence_grace_ms = 100000000');
  for (let asked = 0; asked < 80 && (await flow.task(id)).status === 'SUBMIT_UNKNOWN'; asked += 1) {
    flow.clock.advance(30_000);
    await flow.drain(['scheduler']);
  }
  expect((await flow.task(id)).status).toBe('RETRY_WAIT');
  await flow.look(`UPDATE generation_tasks SET deadline_at = $1, started_at = $2 WHERE id = $3`, [
    new Date(flow.clock.now().getTime() + 3_600_000),
    flow.clock.now(),
    id,
  ]);
  await flow.sandbox.queueFaults(['reject_503']);
  await flow.look(
    `UPDATE generation_requests SET body = jsonb_set(body, '{providerOptions}', '{}')`,
  );
  flow.clock.advance(60_000);
  await flow.runPass();
  await flow.relay();
  await flow.deliver('provider');
  expect(await flow.attempts(id)).toMatchObject([
    { status: 'ABANDONED' },
    { status: 'FAILED_BEFORE_ACCEPT' },
  ]);
  expect(await flow.cancel(id)).toMatchObject({ stopped: false });
  expect((await flow.task(id)).status).toBe('CANCEL_REQUESTED');
  return id;
};

describe('a cancel that waits only for an attempt that was given up for lost', () => {
  it('ends when that attempt’s absence is confirmed', async () => {
    const flow = await open({ undecidablePolicy: 'RETRY' });
    const id = await cancelWithLostAttempt(flow);
    await flow.look('UPDATE providers SET absence_grace_ms = 1000');
    for (let asked = 0; asked < 8; asked += 1) {
      flow.clock.advance(3_600_000 / 10);
      await flow.drain(['scheduler']);
    }
    expect(await flow.task(id)).toMatchObject({
      status: 'CANCELED',
      cancelOutcome: 'BEFORE_SUBMIT',
    });
    expect((await flow.attempts(id)).map(({ status }) => status)).toEqual([
      'FAILED_BEFORE_ACCEPT',
      'FAILED_BEFORE_ACCEPT',
    ]);
    expect((await flow.balance()).heldMicros).toBe(0n);
  });

  it('goes on waiting while another attempt may still have a job', async () => {
    const flow = await open({ undecidablePolicy: 'RETRY' });
    const id = await cancelWithLostAttempt(flow);
    const [lost] = await flow.attempts(id);
    if (lost === undefined) throw new Error('there is no attempt');
    await flow.look('ALTER TABLE task_attempts DISABLE TRIGGER USER');
    await flow.look(
      `UPDATE task_attempts SET status = 'ABANDONED', completed_at = NULL WHERE task_id = $1 AND attempt_no = 2`,
      [id],
    );
    await say(flow, lost, { status: 'FAILED', rawStatus: 'failed' });
    await reduceAll(flow);
    expect((await flow.task(id)).status).toBe('CANCEL_REQUESTED');
    await flow.look(
      `UPDATE task_attempts SET status = 'FAILED_BEFORE_ACCEPT', completed_at = updated_at WHERE task_id = $1 AND attempt_no = 2`,
      [id],
    );
    await flow.look('ALTER TABLE task_attempts ENABLE TRIGGER USER');
    // Leave nothing behind that no provider has.
    await flow.look(`UPDATE task_attempts SET job_id = NULL WHERE task_id = $1`, [id]);
  });
});
