import { createRelayLagWatch } from '../../flow/relay/watch-lag';
import { bells } from '../../runtime/bells';
import type { Container } from '../../runtime/container';
import { loop } from '../../runtime/parts';
import type { Running } from '../../runtime/run-worker';

const BATCH = 500;
/** Under load the relay asks for the next delayed message no more often than this. */
const LOOK_AHEAD_MS = 200;
const LAG_LOOK_MS = 10_000;

export const startOutboxRelayLoops = async (container: Container): Promise<Running[]> => {
  const { mover, context } = container;
  const watchLag = createRelayLagWatch(context, mover);
  let dueAt: Date | null = null;
  let lookAt = new Date(0);
  return [
    loop(container, 'outbox-relay', bells.outbox, 1_000, async () => {
      const now = context.clock.now();
      const moved = await mover.moveBatch(now, BATCH);
      if (moved === 0 && now >= lookAt) {
        dueAt = await mover.nextDueAt();
        lookAt = new Date(now.getTime() + LOOK_AHEAD_MS);
        return { busy: false, dueAt };
      }
      // A batch that was not full has emptied the outbox; what came with it for later is looked up in a moment.
      return { busy: moved === BATCH, dueAt: dueAt !== null && dueAt < lookAt ? dueAt : lookAt };
    }),
    loop(container, 'relay-lag', null, LAG_LOOK_MS, async () => {
      await watchLag();
      return { busy: false, dueAt: null };
    }),
  ];
};
