import { armCrashPoints, readArmedPoint } from '../ports/crash-points';
import type { Config } from './config';

/** `AIVEDIO_CRASH_POINT=parent`: the parent arms a point over the process channel, whenever it likes. */
const BY_PARENT = 'parent';

/** What the parent says, and what it is answered. */
export interface ArmRequest {
  /** `name@hit`; the hit counts from now on. */
  readonly crashAt: string;
}
export interface ArmAnswer {
  readonly armed: string;
}

/**
 * Arms a crash point for a test of recovery: the process ends with SIGKILL at its hit, with no handler, flush or goodbye. Armed
 * by its environment, a process that is started again dies again; armed by its parent, it dies once.
 */
export const armFromConfig = (
  config: Pick<Config, 'crashPoint' | 'production'>,
  channel: Pick<NodeJS.Process, 'on' | 'send'> = process,
): void => {
  if (config.crashPoint === null) return;
  if (config.production) throw new Error('Crash points are refused in production');
  if (config.crashPoint !== BY_PARENT) {
    arm(config.crashPoint);
    return;
  }
  channel.on('message', (message: unknown) => {
    const { crashAt } = (message ?? {}) as Partial<ArmRequest>;
    if (crashAt === undefined) return;
    arm(crashAt);
    channel.send?.({ armed: crashAt } satisfies ArmAnswer);
  });
};

const arm = (text: string): void => {
  const armed = readArmedPoint(text);
  if (armed === null) throw new Error(`There is no crash point ${text}: it is name@hit`);
  let left = armed.hit;
  armCrashPoints((reached) => {
    if (reached !== armed.point) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
  });
};
