import type { Container } from './container';
import { loop } from './parts';
import type { RunningLoop } from './loop';

const SIGN_OF_LIFE_MS = 30_000;

/**
 * Enters this process in the list of lives, shows that it lives, and says when it stops. With a node's name of its own
 * (`AIVEDIO_NODE`) a start declares the life before it dead, so that what a crash left behind is taken up at once.
 */
export const announceLife = (container: Container, worker: string): Pick<RunningLoop, 'stop'> => {
  const { instances, bootId, context, config, log } = container;
  let begun = false;
  let warned = false;
  const life = loop(container, 'life', null, SIGN_OF_LIFE_MS, async () => {
    const now = context.clock.now();
    if (!begun) {
      const ended = await instances.begin({ bootId, worker, node: config.node ?? bootId, now });
      begun = true;
      if (ended > 0) log.info('an earlier life of this worker is over', { ended });
    } else if (!(await instances.see(bootId, now)) && !warned) {
      warned = true;
      log.error('another process runs under the name of this one; give each its own AIVEDIO_NODE', {
        node: config.node,
      });
    }
    return { busy: false, dueAt: null };
  });
  return {
    stop: async () => {
      await life.stop();
      // A database that is away must not hold up the stop: the leases run out by themselves.
      await instances.end(bootId, context.clock.now()).catch(() => undefined);
    },
  };
};
