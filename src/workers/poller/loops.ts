import { pollDueAttempts } from '../../flow/observe/poll-attempts';
import { bells } from '../../runtime/bells';
import type { Container } from '../../runtime/container';
import { loop } from '../../runtime/parts';
import type { Running } from '../../runtime/run-worker';

const BATCH = 50;

export const startPollerLoops = async (container: Container): Promise<Running[]> => [
  loop(container, 'poller', bells.polls, 1_000, async () => {
    const polled = await pollDueAttempts(container.context, container.provider, BATCH);
    return {
      busy: polled === BATCH,
      dueAt: await container.context.uow.stores.attempts.nextPollDueAt(),
    };
  }),
];
