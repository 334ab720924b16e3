import { bells, type Container } from '../../runtime/container';
import { loop } from '../../runtime/parts';
import type { Running } from '../../runtime/run-worker';

const BATCH = 500;

export const startOutboxRelayLoops = async (container: Container): Promise<Running[]> => [
  loop(container, 'outbox-relay', bells.outbox, 1_000, async () => {
    const moved = await container.mover.moveBatch(container.context.clock.now(), BATCH);
    return moved > 0
      ? { busy: true, dueAt: null }
      : { busy: false, dueAt: await container.mover.nextDueAt() };
  }),
];
