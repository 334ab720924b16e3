import { createNotificationConsumer } from '../../flow/notify/announce-change';
import type { Container } from '../../runtime/container';
import { consume } from '../../runtime/parts';
import type { Running } from '../../runtime/run-worker';

export const startNotificationLoops = async (container: Container): Promise<Running[]> => {
  const announce = createNotificationConsumer(container.context, container.pubSub);
  return [
    consume(container, 'notification', 32, {
      'task.status.changed': announce,
      'asset.status.changed': announce,
    }),
  ];
};
