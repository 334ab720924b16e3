import type { FlowContext } from '../flow-context';

/**
 * Notes on the attempt until when the next step of its generation is in somebody's hands, so that the reconciler does
 * not take it for lost. Worth nothing else: a step is safe to run twice.
 * @param forMs from now
 */
export const holdStep = async (
  context: FlowContext,
  attemptId: string,
  forMs: number,
): Promise<void> => {
  const now = context.clock.now();
  await context.uow.stores.attempts.hold(attemptId, new Date(now.getTime() + forMs), now);
};

/** Answers a function to be called at each sign of life of a long step: it renews the hold when that is due. */
export const keepStepHeld = (context: FlowContext, attemptId: string): (() => Promise<void>) => {
  const holdMs = context.settings.stuckAfterMs;
  let renewedAt = context.clock.now().getTime();
  return async () => {
    const now = context.clock.now().getTime();
    if (now - renewedAt < holdMs / 3) return;
    renewedAt = now;
    await holdStep(context, attemptId, holdMs);
  };
};
