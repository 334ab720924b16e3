import { createPostgresPubSub } from '../../adapters/postgres/pub-sub/postgres-pub-sub';
import type { Log } from '../../ports/log';
import type { PubSub } from '../../ports/pub-sub';
import type { HealthChecks } from '../health/health-checks';

/** Fan-out to present subscribers, as the configuration says. */
export const wirePubSub = (options: {
  readonly databaseUrl: string;
  readonly log: Log;
  /** A fan-out beside the database adds itself as `pub-sub`. */
  readonly health: HealthChecks;
}): PubSub => createPostgresPubSub({ connectionString: options.databaseUrl, log: options.log });
