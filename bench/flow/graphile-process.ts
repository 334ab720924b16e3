import { Logger, run, type TaskList } from 'graphile-worker';
import { Pool } from 'pg';
import { uuidv7 } from 'uuidv7';

import { createEndings, driveLoad } from './drive-load';
import { serveContender } from './serve-contender';

/** A chain of jobs, each of which adds the next: about the stages between which the product passes messages. */
const JOBS = 6;

interface Step {
  readonly id: string;
  readonly step: number;
}

const silent = new Logger(() => () => undefined);

serveContender(async ({ databaseUrl, concurrency }) => {
  const pool = new Pool({
    connectionString: databaseUrl,
    max: concurrency + 2,
    application_name: 'bench graphile',
  });
  // graphile-worker asks for listeners; what fails is seen by whoever needed the connection.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const endings = createEndings();
  const taskList: TaskList = {
    step: async (payload, helpers) => {
      const { id, step } = payload as Step;
      if (step + 1 < JOBS) await helpers.addJob('step', { id, step: step + 1 } satisfies Step);
      else endings.ended(id);
    },
  };
  const runner = await run({
    pgPool: pool,
    concurrency,
    noHandleSignals: true,
    pollInterval: 1_000,
    taskList,
    logger: silent,
  });
  const create = async (): Promise<string> => {
    const id = uuidv7();
    await runner.addJob('step', { id, step: 0 } satisfies Step);
    return id;
  };
  return {
    run: (load) => driveLoad(load, concurrency, create, endings),
    stop: async () => {
      await runner.stop();
      await pool.end();
    },
  };
});
