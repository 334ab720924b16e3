import type { ConsumerGroup } from '../../../src/ports/messages';
import type { MediaToolkit } from '../../../src/ports/media-toolkit';
import type { Flow } from '../flow-harness';

/** Every row that a message could have as its effect, in numbers: equal before and after means nothing was written. */
export const countEffects = async (flow: Flow): Promise<Record<string, unknown>> => {
  const [row] = await flow.look(
    `SELECT (SELECT count(*) FROM task_state_events) AS history,
       (SELECT count(*) FROM outbox_events) AS messages,
       (SELECT count(*) FROM credit_ledger) AS ledger,
       (SELECT count(*) FROM provider_costs) AS costs,
       (SELECT count(*) FROM findings) AS findings,
       (SELECT count(*) FROM moderation_decisions) AS verdicts,
       (SELECT count(*) FROM provider_events) AS observations,
       (SELECT count(*) || '/' || coalesce(sum(version), 0) FROM assets) AS assets,
       (SELECT count(*) || '/' || coalesce(sum(version), 0) FROM task_attempts) AS attempts,
       (SELECT count(*) || '/' || coalesce(sum(version), 0) FROM generation_tasks) AS tasks`,
  );
  return row ?? {};
};

/**
 * Delivers the group's due message, then the same message again: the repeat is told as one and writes nothing.
 * Turns red when the group's use case does not enter the inbox.
 */
export const expectRepeatStopped = async (flow: Flow, group: ConsumerGroup): Promise<void> => {
  const handled = await flow.deliver(group);
  const last = handled.at(-1);
  if (last === undefined) throw new Error(`no message was due for ${group}`);
  expect(last.consumed.kind).toBe('APPLIED');
  const before = await countEffects(flow);
  expect(await flow.replay(last.envelope)).toEqual({ kind: 'DUPLICATE' });
  expect(await countEffects(flow)).toEqual(before);
};

/** The real toolkit, but of the derivatives only the proxy: for tests that are about something else. */
export const onlyProxy = (real: MediaToolkit): MediaToolkit => ({
  probe: real.probe,
  derive: (kind, ...rest) =>
    kind === 'PROXY' ? real.derive(kind, ...rest) : Promise.resolve(null),
});
