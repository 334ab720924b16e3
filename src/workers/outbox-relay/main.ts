import { bells } from '../../runtime/container';
import { loop } from '../../runtime/parts';
import { runWorker } from '../../runtime/run-worker';

const BATCH = 500;

runWorker('outbox-relay', async (container) => [
  loop(container, 'outbox-relay', bells.outbox, 1_000, async () => {
    const moved = await container.mover.moveBatch(container.context.clock.now(), BATCH);
    return moved > 0
      ? { busy: true, dueAt: null }
      : { busy: false, dueAt: await container.mover.nextDueAt() };
  }),
]);
