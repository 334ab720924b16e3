import path from 'node:path';

import { startRocketmq } from '../../cluster/servers/rocketmq';
import { createAdministration } from '../../src/adapters/rocketmq/administer';
import { loadClients } from '../../src/adapters/rocketmq/load-clients';
import { topicsOf } from '../../src/adapters/rocketmq/topics';
import { silentLog } from './silent-log';

const SENDS_AT_ONCE = 64;
const PREFIX = 'bench';

/** A RocketMQ of the bench's own, with what a bus needs. */
export const startBenchRocketmq = async (dir: string, say: (line: string) => void) => {
  const server = await startRocketmq({ dir: path.join(dir, 'rocketmq'), log: say });
  const { mqadminPath: mqadmin, namesrv } = server;
  const { problems } = await createAdministration({ mqadmin, namesrv }).create([PREFIX]);
  if (problems.length > 0) throw new Error(`RocketMQ lacks ${problems[0]?.name ?? ''}`);
  return {
    server,
    env: {
      AIVEDIO_BUS: 'rocketmq',
      AIVEDIO_ROCKETMQ_ENDPOINTS: server.endpoints,
      AIVEDIO_ROCKETMQ_PREFIX: PREFIX,
    },
  };
};

/** Messages a second of the client alone: the same size, topic and number of sends at once as the adapter's. */
export const sendBare = async (endpoints: string, body: Buffer, count: number): Promise<number> => {
  const { SafeProducer } = loadClients();
  const [topic = ''] = topicsOf(PREFIX).filter((name) => name.endsWith('-generation'));
  const producer = new SafeProducer({
    ...{ endpoints, namespace: '', requestTimeout: 5_000, maxAttempts: 2 },
    ...{ topics: [topic], logger: silentLog },
  });
  await producer.startup();
  try {
    let sent = 0;
    const began = performance.now();
    const sender = async (): Promise<void> => {
      while (sent < count) {
        sent += 1;
        await producer.send({ topic, tag: 'generation.queued', keys: [`${sent}`], body });
      }
    };
    await Promise.all(Array.from({ length: SENDS_AT_ONCE }, sender));
    return count / ((performance.now() - began) / 1_000);
  } finally {
    await producer.end();
  }
};
