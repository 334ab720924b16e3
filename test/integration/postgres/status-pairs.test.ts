import { ATTEMPT_STATUS_PAIRS, ATTEMPT_STATUSES } from '../../../src/domain/attempt/statuses';
import { TASK_STATUSES } from '../../../src/domain/generation/statuses';
import { TASK_STATUS_PAIRS } from '../../../src/domain/generation/transitions';
import { addTask, addTenant, newAttempt, newId, NOW, useStores } from './fixtures';

const bench = useStores();

const pairsIn = async (table: string): Promise<string[]> =>
  (await bench().look(`SELECT from_status || ' → ' || to_status AS pair FROM ${table}`))
    .map(({ pair }) => String(pair))
    .sort();
const spell = (pairs: readonly (readonly [string, string])[]): string[] =>
  pairs.map(([from, to]) => `${from} → ${to}`).sort();

it('the database allows a generation exactly the pairs of the transition table', async () => {
  expect(await pairsIn('task_status_pairs')).toEqual(spell(TASK_STATUS_PAIRS));
});

it('the database allows an attempt exactly the pairs of its table', async () => {
  expect(await pairsIn('attempt_status_pairs')).toEqual(spell(ATTEMPT_STATUS_PAIRS));
});

const FINISHED = "status IN ('SUCCEEDED', 'CANCELED', 'FAILED_FINAL', 'EXPIRED')";

it('every other pair of a generation is refused', async () => {
  const allowed = new Set(spell(TASK_STATUS_PAIRS));
  const task = await addTask(bench(), await addTenant(bench()));
  const passed: string[] = [];
  for (const from of TASK_STATUSES) {
    for (const to of TASK_STATUSES) {
      if (await isMoveTaken('generation_tasks', task.id, from, to)) passed.push(`${from} → ${to}`);
    }
  }
  expect(passed.sort()).toEqual([...allowed].sort());
});

it('every other pair of an attempt is refused', async () => {
  const task = await addTask(bench(), await addTenant(bench()));
  const attempt = newAttempt(task);
  await bench().stores.attempts.insert(attempt, NOW);
  const passed: string[] = [];
  for (const from of ATTEMPT_STATUSES) {
    for (const to of ATTEMPT_STATUSES) {
      if (from !== to && (await isMoveTaken('task_attempts', attempt.id, from, to))) {
        passed.push(`${from} → ${to}`);
      }
    }
  }
  expect(passed.sort()).toEqual(spell(ATTEMPT_STATUS_PAIRS));
});

/** Puts the row into `from` behind the trigger's back, then tries the move as any code would. */
const isMoveTaken = async (
  table: 'generation_tasks' | 'task_attempts',
  id: string,
  from: string,
  to: string,
): Promise<boolean> => {
  const client = await bench().database.pool.connect();
  const ended = table === 'generation_tasks';
  const extra = ended ? `, schedule_at = NULL` : '';
  const finish = (status: string): string =>
    ended
      ? `, finished_at = CASE WHEN '${status}'::text ${FINISHED.slice(6)} THEN created_at END`
      : '';
  try {
    await client.query('BEGIN');
    await client.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
    await client.query(
      `UPDATE ${table} SET status = '${from}'${extra}${finish(from)} WHERE id = $1`,
      [id],
    );
    await client.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
    await client.query(
      `UPDATE ${table} SET status = '${to}', version = version + 1${finish(to)} WHERE id = $1`,
      [id],
    );
    return true;
  } catch (error) {
    expect(error).toMatchObject({
      code: '23514',
      constraint: expect.stringContaining('status_pairs') as string,
    });
    return false;
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
};

it('the version of a generation rises by one, never by two, never falls', async () => {
  const task = await addTask(bench(), await addTenant(bench()));
  for (const version of [task.version - 1, task.version + 2]) {
    await expect(
      bench().look('UPDATE generation_tasks SET version = $2 WHERE id = $1', [task.id, version]),
    ).rejects.toMatchObject({ constraint: 'generation_tasks_version_step' });
  }
});

it('a generation begins as CREATED, VALIDATING or QUEUED only', async () => {
  const task = await addTask(bench(), await addTenant(bench()));
  await expect(
    bench().look(
      `INSERT INTO generation_tasks SELECT (jsonb_populate_record(t,
         jsonb_build_object('id', $2::uuid, 'client_idempotency_key', 'other', 'status', 'RUNNING', 'schedule_at', NULL))).*
       FROM generation_tasks t WHERE id = $1`,
      [task.id, newId()],
    ),
  ).rejects.toMatchObject({ constraint: 'task_status_pairs' });
});
