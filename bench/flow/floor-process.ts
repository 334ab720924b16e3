import { Pool } from 'pg';
import { uuidv7 } from 'uuidv7';

import type { Load } from './bench-protocol';
import { createEndings, driveLoad } from './drive-load';
import { serveContender } from './serve-contender';

/**
 * The floor: what the database itself asks for a chain of durable steps. A hand-written loop, one statement and one commit a
 * transition, no bus, no relay, no second process, no checks but the version guard.
 */
const TRANSITIONS = 14;

const SCHEMA = `
  CREATE SCHEMA IF NOT EXISTS bench_floor;
  CREATE TABLE IF NOT EXISTS bench_floor.tasks (
    id uuid PRIMARY KEY, status text NOT NULL, version integer NOT NULL, request jsonb NOT NULL,
    created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL
  ) WITH (fillfactor = 70);
  CREATE TABLE IF NOT EXISTS bench_floor.events (
    id uuid PRIMARY KEY, task_id uuid NOT NULL, from_status text, to_status text NOT NULL, version integer NOT NULL,
    observed_at timestamptz NOT NULL, payload jsonb
  );
  CREATE TABLE IF NOT EXISTS bench_floor.outbox (
    id uuid PRIMARY KEY, task_id uuid NOT NULL, type text NOT NULL, payload jsonb NOT NULL, status text NOT NULL,
    available_at timestamptz NOT NULL
  );
  CREATE INDEX IF NOT EXISTS outbox_pending ON bench_floor.outbox (available_at, id) WHERE status = 'PENDING';
`;

const CREATE = `INSERT INTO bench_floor.tasks VALUES ($1, 'S0', 0, $2, $3, $3)`;

const MOVE = `
  WITH moved AS (
    UPDATE bench_floor.tasks SET status = $2, version = version + 1, updated_at = $5
    WHERE id = $1 AND version = $3 AND status = $4
    RETURNING id, version
  ), history AS (
    INSERT INTO bench_floor.events
    SELECT $6::uuid, id, $4, $2, version, $5::timestamptz, $8::jsonb FROM moved
  ), sent AS (
    INSERT INTO bench_floor.outbox SELECT $7::uuid, id, $2, $8::jsonb, 'PENDING', $5::timestamptz FROM moved
  )
  SELECT version FROM moved`;

const REQUEST = JSON.stringify({ prompt: 'a lighthouse in the rain', seed: 7, durationMs: 4_000 });

serveContender(async ({ databaseUrl, concurrency }) => {
  const pool = new Pool({
    connectionString: databaseUrl,
    max: concurrency,
    application_name: 'bench floor',
  });
  await pool.query(SCHEMA);
  const endings = createEndings();

  const step = async (id: string, index: number): Promise<void> => {
    const payload = JSON.stringify({ taskId: id, step: index });
    const { rowCount } = await pool.query({
      name: 'move',
      text: MOVE,
      values: [id, `S${index + 1}`, index, `S${index}`, new Date(), uuidv7(), uuidv7(), payload],
    });
    if (rowCount !== 1) throw new Error(`Task ${id} did not leave step ${index}`);
  };
  const walk = async (id: string): Promise<void> => {
    for (let index = 0; index < TRANSITIONS; index += 1) await step(id, index);
    endings.ended(id);
  };
  const create = async (): Promise<string> => {
    const id = uuidv7();
    await pool.query({ name: 'create', text: CREATE, values: [id, REQUEST, new Date()] });
    return id;
  };
  /** A lane walks one task to its end before it takes the next. */
  const createAndWalk = async (): Promise<string> => {
    const id = await create();
    await walk(id);
    return id;
  };
  /** In an open loop nobody waits for a lane. */
  const createThenWalk = async (): Promise<string> => {
    const id = await create();
    walk(id).catch((error: unknown) => {
      throw error;
    });
    return id;
  };
  return {
    run: (load: Load) =>
      driveLoad(
        load,
        concurrency,
        load.ratePerSecond === null ? createAndWalk : createThenWalk,
        endings,
      ),
    stop: () => pool.end(),
  };
});
