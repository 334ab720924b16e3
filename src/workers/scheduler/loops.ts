import { createQueuedConsumer, runSchedulePass } from '../../flow/schedule/run-scheduler';
import { bells } from '../../runtime/bells';
import type { Container } from '../../runtime/container';
import { consume, loop } from '../../runtime/parts';
import type { Running } from '../../runtime/run-worker';

const PASS_MAX = 100;

export const startSchedulerLoops = async (container: Container): Promise<Running[]> => [
  consume(container, 'scheduler', 16, {
    'generation.queued': createQueuedConsumer(container.context, container.schedule),
  }),
  loop(container, 'schedule-pass', bells.slots, 1_000, async () => {
    const pass = await runSchedulePass(container.context, container.schedule, PASS_MAX);
    return { busy: pass.dispatched === PASS_MAX, dueAt: null };
  }),
];
