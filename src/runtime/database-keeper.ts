import { startEmbeddedPostgres, type EmbeddedPostgres } from '../adapters/postgres/embedded';
import { isProcessAlive } from '../adapters/postgres/embedded/start-lock';
import type { Log } from '../ports/log';

const LOOK_MS = 1_000;

export interface DatabaseKeeper {
  stop(): Promise<void>;
}

/**
 * Keeps the embedded server alive as the supervisor keeps the other processes: a server that is gone is said so and started
 * again, at the same port; every worker reconnects by itself.
 */
export const keepDatabase = (
  server: EmbeddedPostgres,
  dataDir: string,
  log: Log,
): DatabaseKeeper => {
  let current = server;
  let stopping = false;
  let healing: Promise<void> | null = null;

  const heal = async (): Promise<void> => {
    log.warn('the database server is gone and is started again', { pid: current.pid });
    try {
      current = await startEmbeddedPostgres({ dataDir, port: current.port, log });
    } catch (error) {
      log.error('the database server did not start; trying again', { error: String(error) });
    }
  };
  const timer = setInterval(() => {
    if (stopping || healing !== null || isProcessAlive(current.pid)) return;
    healing = heal().finally(() => {
      healing = null;
    });
  }, LOOK_MS);
  return {
    stop: async () => {
      stopping = true;
      clearInterval(timer);
      await healing;
      await current.stop();
    },
  };
};
