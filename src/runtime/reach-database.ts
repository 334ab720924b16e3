import { existsSync } from 'node:fs';
import path from 'node:path';

import { startEmbeddedPostgres } from '../adapters/postgres/embedded';
import type { Log } from '../ports/log';
import type { Config } from './config';

/** Nothing can be seen: there is no database, or it cannot be reached. */
export class CannotLookError extends Error {}

export interface ReachedDatabase {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * The database of the configuration, or the embedded one of the data folder, which is started for the time of a look when it does
 * not run. For commands that look from outside.
 */
export const reachDatabase = async (config: Config, log: Log): Promise<ReachedDatabase> => {
  if (config.databaseUrl !== null) {
    // A look wants one session from its beginning to its end.
    return { url: config.databaseDirectUrl ?? config.databaseUrl, stop: () => Promise.resolve() };
  }
  const dataDir = path.join(config.dataDir, 'postgres');
  if (!existsSync(dataDir)) {
    throw new CannotLookError(
      `There is no database below ${config.dataDir}: run "npm run demo" or "npm start" once, or set AIVEDIO_DATABASE_URL`,
    );
  }
  try {
    return await startEmbeddedPostgres({ dataDir, log });
  } catch (error) {
    throw new CannotLookError(String((error as Error).message), { cause: error });
  }
};
