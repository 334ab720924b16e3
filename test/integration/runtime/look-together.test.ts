import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { APPLIED } from '../../../src/flow/consume';
import { readConfig } from '../../../src/runtime/config';
import { createContainer, type Container } from '../../../src/runtime/container';
import { lookTogether } from '../../../src/runtime/look-together';
import { consume } from '../../../src/runtime/parts';
import { makeQueuedMessages } from '../../contract/message-bus/make-messages';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';

let database: TestDatabase;
let container: Container;
let dataDir: string;
let looks = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = mkdtempSync(path.join(os.tmpdir(), 'aivedio-look-'));
  const made = createContainer(
    readConfig({
      AIVEDIO_DATA_DIR: dataDir,
      AIVEDIO_DATABASE_URL: database.url,
      AIVEDIO_SIGNING_SECRET: 'x'.repeat(43),
      AIVEDIO_LOG_LEVEL: 'error',
    }),
    'test',
  );
  container = { ...made, dueLook: (taken, now) => ((looks += 1), made.dueLook(taken, now)) };
});
afterAll(async () => {
  await container.close();
  await database.drop();
  rmSync(dataDir, { recursive: true });
});

test('a message without a ring, and one that is due later, are handled for want of a look of their own', async () => {
  const shared = lookTogether(container);
  const handled: string[] = [];
  const consumer = consume(shared.container, 'scheduler', 2, {
    'generation.queued': ({ eventId }) => (handled.push(eventId), Promise.resolve(APPLIED)),
  });
  try {
    await eventually('the consumer has begun', () => (looks > 0 ? true : null));
    const now = Date.now();
    const [first, second] = makeQueuedMessages(2, new Date(now));
    if (first === undefined || second === undefined) throw new Error('two were asked for');
    // Published past the bell: only the look can find them.
    await container.bus.publish(
      [first, { ...second, availableAt: new Date(now + 300) }],
      new Date(now),
    );
    await eventually('both are handled', () => (handled.length === 2 ? true : null), 10_000);
    expect(handled).toEqual([first.envelope.eventId, second.envelope.eventId]);
  } finally {
    await Promise.all([consumer.stop(), shared.look.stop()]);
  }
});
