import { crashpoint } from '../../ports/crash-points';
import type { Bell } from '../../ports/message-bus';
import type { ConsumerGroup } from '../../ports/messages';

/** The channel that wakes the workers of a group. */
export const bellOfGroup = (group: ConsumerGroup): string => `bus.${group}`;

/** Rings for the groups that a move brought something new: the `onMoved` of both outbox movers. */
export const ringGroups =
  (bell: Pick<Bell, 'ring'>) =>
  (groups: readonly ConsumerGroup[]): void => {
    crashpoint('relay.after_mark_before_bell');
    for (const group of groups) bell.ring(bellOfGroup(group));
  };
