import { openLook } from '../../../src/adapters/postgres/verify/open-look';
import { readSandboxLog } from '../../../src/adapters/evidence/sandbox-log';
import { verifyFacts, type VerifyReport } from '../../../src/flow/verify/verify-facts';
import type { Evidence, MachineLook, Secret } from '../../../src/ports/verification';
import { startCallbackReceiver } from '../../support/callback-receiver';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { openFlow, type Flow } from '../../support/flow-harness';
import { makePicture, tryOpenUpload } from '../../support/flow/uploads';
import { startSandbox } from '../../support/sandbox-process';

/** A database as the product leaves it, what the provider and the store say of it, and the instant of the last step. */
export interface SoundFacts {
  readonly now: Date;
  readonly evidence: readonly Evidence[];
  /** A database of the same rows; they are gone with the server of the test run. */
  copy(): Promise<TestDatabase>;
}

/**
 * Made by the real use cases: a success with a refund, a success in its second attempt, a cancel before the submit and a
 * confirmed one, a job that runs, an upload under way, and a second tenant.
 */
export const makeSoundFacts = async (): Promise<SoundFacts> => {
  const [sandbox, receiver] = await Promise.all([
    startSandbox({ render: 'instant', concurrency: 50 }),
    startCallbackReceiver(),
  ]);
  try {
    const { flow } = await openFlow(sandbox, receiver, {});
    try {
      return await leaveFacts(flow);
    } finally {
      await flow.objectServer.close();
    }
  } finally {
    await Promise.all([sandbox.stop(), receiver.close()]);
  }
};

const leaveFacts = async (flow: Flow): Promise<SoundFacts> => {
  const { sandbox, database } = flow;
  await flow.addTenant();
  await succeed(flow, {});
  await sandbox.queueFaults(['reject_503']);
  await succeed(flow, {});
  await flow.cancel((await flow.create()).id);
  await cancelRunning(flow);
  await flow.submit({ fault: 'hang' });
  await tryOpenUpload(flow, await makePicture());
  await refund(flow);
  const evidence: Evidence[] = [];
  for await (const each of readSandboxLog(sandbox.dataDir)) evidence.push(each);
  for await (const head of flow.objectServer.store.list('')) {
    evidence.push({
      kind: 'object',
      id: null,
      reference: head.key,
      amount: null,
      at: head.modifiedAt,
    });
  }
  flow.clock.advance(3_600_000);
  const now = flow.clock.now();
  await flow.close();
  await database.pool.end();
  return {
    now,
    evidence,
    copy: () => createTestDatabase(nameOf(database)),
  };
};

const nameOf = (database: TestDatabase): string => new URL(database.url).pathname.slice(1);

const succeed = async (flow: Flow, changes: Parameters<Flow['create']>[0]): Promise<void> => {
  const { id } = await flow.submit(changes);
  if ((await flow.task(id)).status === 'RETRY_WAIT') {
    flow.clock.advance(120_000);
    await flow.runPass();
    await flow.drain();
  }
  await flow.finishJob(id);
  await flow.drain();
  const { status } = await flow.task(id);
  if (status !== 'SUCCEEDED') throw new Error(`It should have succeeded and is ${status}`);
};

const cancelRunning = async (flow: Flow): Promise<void> => {
  const { id } = await flow.submit({ fault: 'hang' });
  await flow.cancel(id);
  await flow.drain();
  await flow.jobReached(id, 'canceled');
  await flow.poll();
  await flow.drain();
  const { status } = await flow.task(id);
  if (status !== 'CANCELED') throw new Error(`It should have been cancelled and is ${status}`);
};

const refund = async (flow: Flow): Promise<void> => {
  const [row] = await flow.look(
    "SELECT id, tenant_id FROM generation_tasks WHERE status = 'SUCCEEDED' ORDER BY id LIMIT 1",
  );
  const now = flow.clock.now();
  const outcome = await flow.context.uow.stores.money.refund({
    tenantId: String(row?.['tenant_id']),
    taskId: String(row?.['id']),
    amountMicros: 1_000_000n,
    businessKey: 'refund:sound:1',
    reason: 'TEST',
    actor: 'test',
    entryId: flow.context.ids.next(now),
    now,
  });
  if (outcome !== 'CREATED') throw new Error(`The refund answered ${outcome}`);
};

const QUIET_MACHINE: MachineLook = {
  findSecrets: () => Promise.resolve([]),
  findLeftoverFiles: () => Promise.resolve([]),
  findLeftoverProcesses: () => Promise.resolve([]),
};

export const SECRETS: readonly Secret[] = [
  { name: 'a signed URL', pattern: '[?&](sig|signature)=[A-Za-z0-9_-]{16}' },
];

/** Every check over one database, with the evidence given. */
export const verifyDatabase = async (
  url: string,
  now: Date,
  evidence: readonly Evidence[],
  only: readonly string[] | null = null,
): Promise<VerifyReport> => {
  const look = await openLook({
    connectionString: url,
    connectionTimeoutMs: 20_000,
    statementTimeoutMs: 30_000,
  });
  const of = async function* (...kinds: readonly Evidence['kind'][]) {
    yield* evidence.filter(({ kind }) => kinds.includes(kind));
  };
  try {
    return await verifyFacts(
      {
        look,
        providerLog: of('post', 'job', 'charge'),
        objects: of('object'),
        machine: QUIET_MACHINE,
        secrets: SECRETS,
      },
      { now, settleMs: 60_000, keptMs: 13 * 86_400_000, only },
    );
  } finally {
    await look.close();
  }
};
