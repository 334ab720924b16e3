/** What a process and its parent say to each other about bells; other messages of the channel are not ours. */
export type BellMessage =
  | { readonly bell: 'ring'; readonly channel: string }
  | { readonly bell: 'listen'; readonly channel: string }
  | { readonly bell: 'unlisten'; readonly channel: string };

export const readBellMessage = (message: unknown): BellMessage | null => {
  if (typeof message !== 'object' || message === null) return null;
  const { bell, channel } = message as { readonly bell?: unknown; readonly channel?: unknown };
  if (bell !== 'ring' && bell !== 'listen' && bell !== 'unlisten') return null;
  return typeof channel === 'string' ? { bell, channel } : null;
};
