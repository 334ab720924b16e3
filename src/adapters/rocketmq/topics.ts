import {
  CONSUMER_GROUPS,
  MESSAGE_TYPES,
  type ConsumerGroup,
  type Envelope,
  type MessageType,
} from '../../ports/messages';

/**
 * One topic for each event family, which is the first word of a type. The type is the tag.
 * All are of the message type NORMAL: docs/decisions says why neither FIFO nor DELAY.
 */
export const TOPIC_MESSAGE_TYPE = 'NORMAL';

const familyOf = (type: MessageType): string => type.slice(0, type.indexOf('.'));

export const topicOf = (prefix: string, envelope: Envelope): string =>
  `${prefix}-${familyOf(envelope.eventType)}`;

export const topicsOf = (prefix: string): string[] => [
  ...new Set(MESSAGE_TYPES.map((type) => `${prefix}-${familyOf(type)}`)),
];

export const groupNameOf = (prefix: string, group: ConsumerGroup): string => `${prefix}-${group}`;

export const groupNamesOf = (prefix: string): string[] =>
  (Object.keys(CONSUMER_GROUPS) as ConsumerGroup[]).map((group) => groupNameOf(prefix, group));

/** Topic and the tags that the group reads of it.  */
export const subscriptionsOf = (
  prefix: string,
  group: ConsumerGroup,
): ReadonlyMap<string, string> => {
  const types: readonly MessageType[] = CONSUMER_GROUPS[group];
  const subscriptions = new Map<string, string>();
  for (const type of types) {
    const topic = `${prefix}-${familyOf(type)}`;
    const before = subscriptions.get(topic);
    subscriptions.set(topic, before === undefined ? type : `${before}||${type}`);
  }
  return subscriptions;
};
