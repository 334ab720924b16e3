import type { Attempt } from '../../../src/domain/attempt/attempt';
import { StaleWriteError, type AttemptPatch } from '../../../src/ports/stores/attempt-store';
import type { Stores } from '../../../src/ports/unit-of-work';
import { addTask, addTenant, at, newAttempt, newId, NOW, useStores } from './fixtures';

const bench = useStores();

const addAttempt = async (patch: AttemptPatch = {}, to: Attempt['status'] = 'SENDING') => {
  const task = await addTask(bench(), await addTenant(bench()));
  const attempt = newAttempt(task);
  const { attempts } = bench().stores;
  await attempts.insert(attempt, NOW);
  const read = await attempts.read(attempt.id);
  if (read === null) throw new Error('no attempt');
  return attempts.patch(read, to, patch, at(1));
};

describe('an attempt', () => {
  it('is stored as it was sent, once a number', async () => {
    const task = await addTask(bench(), await addTenant(bench()));
    const attempt = newAttempt(task);
    const { attempts } = bench().stores;
    expect(await attempts.insert(attempt, NOW)).toBe('CREATED');
    expect(await attempts.insert(newAttempt(task), NOW)).toBe('EXISTS');
    expect(await attempts.read(attempt.id)).toMatchObject({
      ...attempt,
      status: 'NEW',
      version: 1,
      jobId: null,
      createdAt: NOW,
    });
    expect(await attempts.listOfTask(task.id)).toHaveLength(1);
  });

  it('keeps the last note of what is about to be shown at a raw key, and only a whole one', async () => {
    const { id, version } = await addAttempt();
    const { attempts } = bench().stores;
    expect((await attempts.read(id))?.rawWrite).toBeNull();
    for (const key of ['a/1', 'a/2']) {
      await attempts.noteRawWrite(id, { key, sizeBytes: 2 ** 33, sha256: 'ab' }, at(5));
    }
    expect(await attempts.read(id)).toMatchObject({
      rawWrite: { key: 'a/2', sizeBytes: 2 ** 33, sha256: 'ab' },
      version: version + 2,
      updatedAt: at(5),
    });
    await expect(
      bench().pool.query(`UPDATE task_attempts SET raw_write = '{"key": "a/3"}'`),
    ).rejects.toThrow('task_attempts_raw_write_is_whole');
  });

  it('is patched in the named columns only, under the version that was read', async () => {
    const attempt = await addAttempt({ leaseOwner: newId(), leaseUntil: at(30), sentAt: at(1) });
    const { attempts } = bench().stores;
    const patched = await attempts.patch(
      attempt,
      'ACKED',
      {
        jobId: 'job-1',
        costAmount: '0.25',
        slotToken: null,
        outputs: [{ index: 0, url: 'https://x/y', expiresAt: at(5).toISOString() }],
        nextPollAt: at(10),
      },
      at(2),
    );
    expect(patched).toEqual({
      ...attempt,
      status: 'ACKED',
      version: 3,
      jobId: 'job-1',
      costAmount: '0.250000',
      slotToken: null,
      outputs: [{ index: 0, url: 'https://x/y', expiresAt: at(5).toISOString() }],
      nextPollAt: at(10),
      updatedAt: at(2),
    });
    await expect(attempts.patch(attempt, 'UNKNOWN', {}, at(3))).rejects.toBeInstanceOf(
      StaleWriteError,
    );
    expect(await attempts.patch(patched, null, { pollTries: 1 }, at(3))).toMatchObject({
      status: 'ACKED',
      pollTries: 1,
    });
  });

  it('cannot take a status its table does not list', async () => {
    const attempt = await addAttempt();
    await expect(
      bench().stores.attempts.patch(attempt, 'ABANDONED', {}, NOW),
    ).rejects.toMatchObject({ constraint: 'attempt_status_pairs' });
  });

  it('is found by request key and by job; a job belongs to one attempt', async () => {
    const attempt = await addAttempt({ jobId: 'job-1' }, 'SENDING');
    const { attempts } = bench().stores;
    expect(await attempts.findByJob('sandbox', 'job-1')).toMatchObject({ id: attempt.id });
    expect(await attempts.findByJob('other', 'job-1')).toBeNull();
    expect(await attempts.findByRequestKey('sandbox', attempt.requestKey)).toMatchObject({
      id: attempt.id,
    });
    await expect(addAttempt({ jobId: 'job-1' })).rejects.toMatchObject({
      constraint: 'task_attempts_provider_id_job_id_key',
    });
  });
});

describe('polls', () => {
  it('are claimed when due, by one poller each, without touching the version', async () => {
    for (const seconds of [5, 5, 5, 6, 900]) await addAttempt({ nextPollAt: at(seconds) });
    const { attempts } = bench().stores;
    expect(await attempts.nextPollDueAt()).toEqual(at(5));
    const parts = await Promise.all([1, 2, 3].map(() => attempts.claimDuePolls(at(6), at(60), 2)));
    const ids = parts.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const rest = await attempts.claimDuePolls(at(6), at(60), 10);
    expect([...ids, ...rest]).toHaveLength(4);
    expect(parts.flat().every(({ version, nextPollAt }) => version === 2 && nextPollAt)).toBe(true);
    expect(await attempts.nextPollDueAt()).toEqual(at(60));
  });

  it('that one poller is claiming are passed over by the next, without waiting', async () => {
    for (const seconds of [5, 5, 6, 6]) await addAttempt({ nextPollAt: at(seconds) });
    const claim = (stores: Stores, limit: number) =>
      stores.attempts.claimDuePolls(at(6), at(60), limit);
    const [first, second] = await bench().uow.transact(async (tx) => [
      await claim(tx, 2),
      await claim(bench().stores, 10),
    ]);
    expect([first?.length, second?.length]).toEqual([2, 2]);
    expect(new Set([...(first ?? []), ...(second ?? [])].map(({ id }) => id)).size).toBe(4);
  });

  it('are none when none waits', async () => {
    expect(await bench().stores.attempts.nextPollDueAt()).toBeNull();
    expect(await bench().stores.attempts.claimDuePolls(NOW, at(1), 5)).toEqual([]);
  });
});

describe('lists for recovery', () => {
  it('name attempts whose lease is over, and those that never had one', async () => {
    const leased = await addAttempt({ leaseOwner: newId(), leaseUntil: at(30) });
    const never = await addAttempt();
    await addAttempt({ leaseUntil: at(5) }, 'SENDING').then((sent) =>
      bench().stores.attempts.patch(sent, 'ACKED', {}, at(2)),
    );
    const lost = async (now: Date, before: Date) =>
      (await bench().stores.attempts.listLeaseLost(now, before, 10)).map(({ id }) => id).sort();
    expect(await lost(at(29), at(-1))).toEqual([]);
    expect(await lost(at(30), at(-1))).toEqual([leased.id]);
    expect(await lost(at(30), NOW)).toEqual([leased.id, never.id].sort());
  });

  it('name undecided submits and slot holders', async () => {
    const sending = await addAttempt();
    const unknown = await bench().stores.attempts.patch(await addAttempt(), 'UNKNOWN', {}, at(2));
    await bench().stores.attempts.patch(
      await addAttempt(),
      'FAILED_BEFORE_ACCEPT',
      { completedAt: at(2) },
      at(2),
    );
    const { attempts } = bench().stores;
    expect((await attempts.listUnknown(10)).map(({ id }) => id)).toEqual([unknown.id]);
    expect((await attempts.listSlotHolders()).map(({ id }) => id).sort()).toEqual(
      [sending.id, unknown.id].sort(),
    );
  });
});
