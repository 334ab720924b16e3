import { createNotificationConsumer } from '../../flow/notify/announce-change';
import { consume } from '../../runtime/parts';
import { runWorker } from '../../runtime/run-worker';

runWorker('notification', async (container) => {
  const announce = createNotificationConsumer(container.context, container.pubSub);
  return [
    consume(container, 'notification', 16, {
      'task.status.changed': announce,
      'asset.status.changed': announce,
    }),
  ];
});
