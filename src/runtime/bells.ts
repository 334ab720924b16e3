import { OUTBOX_BELL } from '../adapters/postgres';
import { bellOfGroup } from '../flow/relay/ring-groups';

/** Channels of the bell. */
export const bells = {
  group: bellOfGroup,
  outbox: OUTBOX_BELL,
  slots: 'slots',
  polls: 'polls',
} as const;
