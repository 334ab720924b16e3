import { openLook } from '../../../src/adapters/postgres/verify/open-look';
import { readSandboxLog } from '../../../src/adapters/evidence/sandbox-log';
import { verifyFacts, type VerifyReport } from '../../../src/flow/verify/verify-facts';
import type { Evidence, MachineLook, Secret } from '../../../src/ports/verification';
import { createRuleModeration, DEFAULT_RULES } from '../../../src/adapters/moderation/rule-set';
import { storedEvidence } from '../../../src/adapters/object-store/disk/stored-evidence';
import { quoteGeneration } from '../../../src/flow/create/quote-generation';
import type { Moderation } from '../../../src/ports/moderation';
import { partsEvidence } from '../../../src/flow/verify/parts-evidence';
import { startCallbackReceiver } from '../../support/callback-receiver';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { openFlow, type Flow } from '../../support/flow-harness';
import { makePicture, openParts, tryOpenUpload } from '../../support/flow/uploads';
import { startSandbox } from '../../support/sandbox-process';
import { MODEL } from '../../support/flow/seed-catalog';
import { auditStart, limitTenant, moveMoney, rejectOutput } from './money-facts';

/** A database as the product leaves it, what the provider and the store say of it, and the instant of the last step. */
export interface SoundFacts {
  readonly now: Date;
  readonly evidence: readonly Evidence[];
  /** A database of the same rows; they are gone with the server of the test run. */
  copy(): Promise<TestDatabase>;
}

/**
 * Made by the real use cases: a success under a quote with refunds, corrections and an invoice, a success in its second
 * attempt, one that a review took back, a cancel before the submit and a confirmed one, a job that runs, an upload under way, a
 * limit, and a second tenant.
 */
export const makeSoundFacts = async (): Promise<SoundFacts> => {
  const [sandbox, receiver] = await Promise.all([
    startSandbox({ render: 'instant', concurrency: 50 }),
    startCallbackReceiver(),
  ]);
  try {
    const { moderation, reviewNext } = createModeration();
    const { flow } = await openFlow(sandbox, receiver, { moderation });
    try {
      return await leaveFacts(flow, reviewNext);
    } finally {
      await flow.objectServer.close();
    }
  } finally {
    await Promise.all([sandbox.stop(), receiver.close()]);
  }
};

/** The product's rules, until the next output is to wait for a person. */
const createModeration = () => {
  const rules = createRuleModeration(DEFAULT_RULES);
  let wanted = false;
  const moderation: Moderation = {
    ...rules,
    judgeMedia: (subject) => {
      if (!wanted) return rules.judgeMedia(subject);
      wanted = false;
      return Promise.resolve({ verdict: 'REVIEW', reasonCode: 'KNOWN_FILE' });
    },
  };
  return {
    moderation,
    reviewNext: () => {
      wanted = true;
    },
  };
};

const REQUEST = {
  model: MODEL,
  prompt: 'A lighthouse in the rain',
  resolution: '480p',
  durationMs: 2_000,
};

const leaveFacts = async (flow: Flow, reviewNext: () => void): Promise<SoundFacts> => {
  const { sandbox, database } = flow;
  for (const tenantId of [flow.tenantId, await flow.addTenant()]) await auditStart(flow, tenantId);
  await limitTenant(flow);
  const first = await succeed(flow, { quoteId: await quote(flow) });
  await sandbox.queueFaults(['reject_503']);
  await succeed(flow, {});
  await flow.cancel((await flow.create()).id);
  const canceled = await cancelRunning(flow);
  await flow.submit({ fault: 'hang' });
  const picture = await makePicture();
  await tryOpenUpload(flow, picture);
  await openParts(flow, picture, { partSizeBytes: null });
  await moveMoney(flow, first, canceled);
  reviewNext();
  await rejectOutput(flow, await succeed(flow, {}));
  await flow.drain();
  const evidence: Evidence[] = [];
  for await (const each of readSandboxLog(sandbox.dataDir)) evidence.push(each);
  const { root } = flow.objectServer.store.options;
  for await (const each of storedEvidence(root, () => undefined)) evidence.push(each);
  for await (const each of partsEvidence(flow.objectServer.store, flow.clock.now())) {
    evidence.push(each);
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

const quote = async (flow: Flow): Promise<string> => {
  const quoted = await quoteGeneration(flow.context, { tenantId: flow.tenantId, request: REQUEST });
  if (quoted.kind === 'REFUSED') throw new Error(quoted.message);
  return quoted.quote.id;
};

const succeed = async (flow: Flow, changes: Parameters<Flow['create']>[0]): Promise<string> => {
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
  return id;
};

const cancelRunning = async (flow: Flow): Promise<string> => {
  const { id } = await flow.submit({ fault: 'hang' });
  await flow.cancel(id);
  await flow.drain();
  await flow.jobReached(id, 'canceled');
  await flow.poll();
  await flow.drain();
  const { status } = await flow.task(id);
  if (status !== 'CANCELED') throw new Error(`It should have been cancelled and is ${status}`);
  return id;
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
        slots: evidence.filter(({ kind }) => kind.startsWith('slot')),
        providerLog: of('post', 'job', 'charge'),
        objects: of('object', 'bytes', 'parts'),
        deep: true,
        machine: QUIET_MACHINE,
        secrets: SECRETS,
      },
      { now, settleMs: 60_000, keptMs: 13 * 86_400_000, only },
    );
  } finally {
    await look.close();
  }
};
