import { createGeneration } from '../../src/flow/create/create-generation';
import { createMediaConsumer } from '../../src/flow/media/process-media';
import { topics } from '../../src/flow/notify/announce-change';
import { WORKERS, type WorkerName } from '../../src/domain/stages';
import { readConfig } from '../../src/runtime/config';
import { createContainer, type Container } from '../../src/runtime/container';
import { lookTogether } from '../../src/runtime/look-together';
import { consume } from '../../src/runtime/parts';
import type { Running } from '../../src/runtime/run-worker';
import { startAssetValidatorLoops } from '../../src/workers/asset-validator/loops';
import { startBillingLoops } from '../../src/workers/billing/loops';
import { startCallbackLoops } from '../../src/workers/callback/loops';
import { startNotificationLoops } from '../../src/workers/notification/loops';
import { startOutboxRelayLoops } from '../../src/workers/outbox-relay/loops';
import { startOutputFetchLoops } from '../../src/workers/output-fetch/loops';
import { startPollerLoops } from '../../src/workers/poller/loops';
import { startProviderLoops } from '../../src/workers/provider/loops';
import { startReconcilerLoops } from '../../src/workers/reconciler/loops';
import { startReducerLoops } from '../../src/workers/reducer/loops';
import { startSchedulerLoops } from '../../src/workers/scheduler/loops';
import { createEndings, driveLoad } from './drive-load';
import { withInstantParts } from './instant-parts';
import { serveContender, type ContenderProcess } from './serve-contender';

/** Without ffmpeg there is no reason for one at a time: as many as several media workers would have. */
const MEDIA_AT_ONCE = 8;

const startBenchMedia = async (container: Container): Promise<Running[]> => {
  const { objects, moderation, context } = container;
  const deps = { objects, moderation, ...(await container.media()) };
  return [
    consume(container, 'media', MEDIA_AT_ONCE, {
      'media.process.requested': createMediaConsumer(context, deps),
    }),
  ];
};

const LOOPS: Readonly<Record<WorkerName, (container: Container) => Promise<Running[]>>> = {
  'asset-validator': startAssetValidatorLoops,
  'outbox-relay': startOutboxRelayLoops,
  scheduler: startSchedulerLoops,
  provider: startProviderLoops,
  callback: startCallbackLoops,
  poller: startPollerLoops,
  reducer: startReducerLoops,
  'output-fetch': startOutputFetchLoops,
  media: startBenchMedia,
  notification: startNotificationLoops,
  billing: startBillingLoops,
  reconciler: startReconcilerLoops,
};

const CREATES_AT_ONCE = 16;
const REQUEST = {
  model: 'sandbox-video-1',
  prompt: 'a lighthouse in the rain, seen from a small boat',
  resolution: '480p',
  durationMs: 2_000,
};

/** The API's part: the create use case, and one subscriber that hears of every change of every tenant. */
const startApi = async (
  container: Container,
  tenantIds: readonly string[],
): Promise<ContenderProcess> => {
  const endings = createEndings();
  const unsubscribes = await Promise.all(
    tenantIds.map((tenantId) =>
      container.pubSub.subscribe(
        topics.tenant(tenantId),
        ({ taskId, terminal }) => {
          if (terminal === true) endings.ended(String(taskId));
        },
        () => undefined,
      ),
    ),
  );
  let created = 0;
  const { context, moderation } = container;
  const create = async (): Promise<string> => {
    const tenantId = tenantIds[(created += 1) % tenantIds.length] ?? '';
    const idempotencyKey = context.ids.next(context.clock.now());
    const outcome = await createGeneration(context, moderation, {
      tenantId,
      projectId: null,
      apiKeyId: null,
      idempotencyKey,
      request: REQUEST,
      quoteId: null,
      maxMicros: null,
      traceId: idempotencyKey,
    });
    if (outcome.kind !== 'CREATED') throw new Error(`Create answered ${JSON.stringify(outcome)}`);
    return outcome.task.id;
  };
  return {
    run: (load) => driveLoad(load, CREATES_AT_ONCE, create, endings),
    stop: async () => {
      await Promise.all(unsubscribes.map((unsubscribe) => unsubscribe()));
      await container.close();
    },
  };
};

const startWorkers = async (
  own: Container,
  names: readonly WorkerName[],
): Promise<ContenderProcess> => {
  const shared = names.length > 1 ? lookTogether(own) : null;
  const container = shared?.container ?? own;
  const running = (await Promise.all(names.map((name) => LOOPS[name](container)))).flat();
  if (shared !== null) running.push(shared.look);
  return {
    stop: async () => {
      await Promise.all(running.map((each) => each.stop()));
      await own.close();
    },
  };
};

/** Arguments after the setup: `api` and the tenants, or a name and the workers whose loops run in this process. */
serveContender(() => {
  const [role, ...rest] = process.argv.slice(3);
  const container = withInstantParts(createContainer(readConfig(), role ?? 'bench'));
  return role === 'api'
    ? startApi(container, rest)
    : startWorkers(
        container,
        WORKERS.filter((name) => rest.includes(name)),
      );
});
