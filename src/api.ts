import type { Router } from 'express';

import { createDiskStoreRoutes } from './adapters/object-store/disk/disk-store-routes';
import { createSharedPrefixRoutes } from './adapters/object-store/s3/shared-prefix-routes';
import { createApiKeys } from './adapters/postgres/api-keys';
import { createPrisma } from './adapters/postgres/prisma-client';
import { createInvoiceReads, createReadModel } from './adapters/postgres/read-model';
import { createOperatorReads } from './adapters/postgres/read-model/operator-reads';
import { createApiServer } from './resolvers/server';
import { armFromConfig } from './runtime/arm-crash-points';
import { ConfigError, readConfig } from './runtime/config';
import { createContainer, type Container } from './runtime/container';
import { onStopSignal, serveHealth } from './runtime/run-worker';
import { rateRulesOf, wireRateLimits } from './runtime/wire/wire-rate-limits';

/** A revoked key keeps its open sockets for at most this long; the promise to partners is 5 s. */
const REVOCATION_CHECK_MS = 2_000;

const main = async (): Promise<void> => {
  const config = readConfig();
  armFromConfig(config);
  const container = createContainer(config, 'api');
  await container.checkAtStart();
  const { context, log, objects } = container;
  const prisma = createPrisma({
    connectionString: container.secrets.databaseUrl,
    max: config.poolMax,
    statementTimeoutMs: config.behindPooler ? null : config.databaseLimits.statementTimeoutMs,
  });
  const server = await createApiServer({
    context,
    slots: container.slots,
    provider: container.provider,
    bus: container.bus,
    ringScheduler: container.schedule.requestPass,
    moderation: container.moderation,
    objects,
    pubSub: container.pubSub,
    reads: createReadModel(prisma),
    invoices: createInvoiceReads(prisma),
    operatorReads: createOperatorReads(prisma),
    apiKeys: createApiKeys({ prisma, ids: context.ids }),
    objectRoutes: objectRoutesOf(container),
    log,
    health: container.health,
    metrics: container.metrics,
    tracing: container.tracing,
    metricsPage: config.healthPort === null ? container.metrics : null,
    rateLimits: wireRateLimits(container.redis, log),
    rateRules: rateRulesOf(config),
    trustedProxies: config.trustedProxies,
    publicUrl: config.publicUrl,
    production: config.production,
    revocationCheckMs: REVOCATION_CHECK_MS,
  });
  const healthServer = await serveHealth(container, ['api']);
  const port = await server.listen(config.http.port, config.http.host);
  onStopSignal(config.drainMs * 2 + config.unreadyMs, async () => {
    await server.close(config.drainMs, config.unreadyMs);
    await healthServer?.close();
    await prisma.$disconnect();
    await container.close();
  });
  log.info('api is running', { port, pid: process.pid });
  process.send?.({ ready: true });
};

/** What of the object store the API serves itself: all of one on this disk, of one on S3 what S3 cannot sign. */
const objectRoutesOf = ({ disk, s3 }: Container): Router | null => {
  if (disk !== null) return createDiskStoreRoutes(disk);
  return s3 === null ? null : createSharedPrefixRoutes(s3.opened());
};

main().catch((error: unknown) => {
  const text =
    error instanceof ConfigError ? error.message : String((error as Error).stack ?? error);
  process.stderr.write(`api: ${text}\n`);
  process.exit(1);
});
