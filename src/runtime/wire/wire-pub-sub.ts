import { createPostgresPubSub } from '../../adapters/postgres/pub-sub/postgres-pub-sub';
import type { Log } from '../../ports/log';
import type { PubSub } from '../../ports/pub-sub';

/** Fan-out to present subscribers, as the configuration says. */
export const wirePubSub = (options: { readonly databaseUrl: string; readonly log: Log }): PubSub =>
  createPostgresPubSub({ connectionString: options.databaseUrl, log: options.log });
