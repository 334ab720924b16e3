import { createPrisma } from '../../../src/adapters/postgres/prisma-client';
import type { Asset } from '../../../src/domain/output/asset';
import type { JobObservation } from '../../../src/domain/provider/vocabulary';
import { StaleWriteError } from '../../../src/ports/stores/attempt-store';
import type { NewAsset } from '../../../src/ports/stores/asset-store';
import { addTask, addTenant, at, newAttempt, newId, NOW, useStores } from './fixtures';

const bench = useStores();

const newAsset = (tenantId: string, changes: Partial<NewAsset> = {}): NewAsset => {
  const id = newId();
  return {
    id,
    tenantId,
    projectId: null,
    taskId: null,
    attemptId: null,
    parentAssetId: null,
    kind: 'INPUT_IMAGE',
    status: 'UPLOADING',
    fileName: 'a.png',
    objectKey: `tenants/${tenantId}/assets/${id}/original`,
    quarantineKey: `quarantine/${id}`,
    entryName: null,
    sizeBytes: 12n,
    sha256: 'abc',
    declaredMime: 'image/png',
    detectedMime: null,
    pipelineVersion: 1,
    businessKey: `upload:${id}`,
    ...changes,
  };
};

const addAsset = async (changes: Partial<NewAsset> = {}): Promise<Asset> => {
  const asset = newAsset(changes.tenantId ?? (await addTenant(bench())), changes);
  await bench().stores.assets.insert(asset, NOW);
  const read = await bench().stores.assets.read(asset.id);
  if (read === null) throw new Error('no asset');
  return read;
};

describe('an asset', () => {
  it('is recorded once a business key', async () => {
    const asset = await addAsset();
    const again = newAsset(asset.tenantId, { businessKey: asset.businessKey });
    const { assets } = bench().stores;
    expect(await assets.insert(again, NOW)).toBe('EXISTS');
    expect(await assets.findByBusinessKey(asset.businessKey)).toEqual(asset);
    expect(asset).toMatchObject({ version: 1, sizeBytes: 12n, facts: null, createdAt: NOW });
  });

  it('is patched in the named columns only, under the version that was read', async () => {
    const asset = await addAsset();
    const { assets } = bench().stores;
    const patch = { sizeBytes: 9_007_199_254_740_993n, facts: { rotation: 90 }, frameRateNum: 30 };
    const patched = await assets.patch(asset, 'READY', patch, at(1));
    expect(patched).toEqual({
      ...asset,
      ...patch,
      status: 'READY',
      version: 2,
      updatedAt: at(1),
    });
    await expect(assets.patch(asset, 'REJECTED', {}, at(2))).rejects.toBeInstanceOf(
      StaleWriteError,
    );
  });

  it('is listed by its ids, its generation, its parent and kind', async () => {
    const tenantId = await addTenant(bench());
    const task = await addTask(bench(), tenantId);
    const raw = await addAsset({ tenantId, kind: 'RAW_OUTPUT', taskId: task.id });
    const parent = { tenantId, taskId: task.id, parentAssetId: raw.id };
    const proxy = await addAsset({ ...parent, kind: 'PROXY' });
    const hls = await addAsset({ ...parent, kind: 'HLS' });
    const { assets } = bench().stores;
    expect(await assets.readMany([hls.id, newId(), raw.id])).toEqual([raw, hls]);
    expect(await assets.readMany([])).toEqual([]);
    expect(await assets.listOfTask(task.id)).toEqual([raw, proxy, hls]);
    expect(await assets.listByKind(raw.id, ['PROXY', 'THUMBNAIL'])).toEqual([proxy]);
    expect(await bench().uow.transact((tx) => tx.assets.lock(raw.id))).toEqual(raw);
  });

  it('has one upload, which ends once', async () => {
    const asset = await addAsset();
    const { assets } = bench().stores;
    const session = {
      id: newId(),
      tenantId: asset.tenantId,
      assetId: asset.id,
      quarantineKey: 'quarantine/x',
      fileName: 'a.png',
      declaredMime: 'image/png',
      declaredSizeBytes: 12n,
      declaredSha256: 'abc',
      method: 'PARTS',
      partSizeBytes: 5_242_880n,
      expiresAt: at(60),
    } as const;
    await assets.insertUpload(session, NOW);
    expect(await assets.listExpiredUploads(at(59), 10)).toEqual([]);
    expect(await assets.readUploadOfAsset(asset.id)).toMatchObject({ storeUploadId: null });
    expect(await assets.nameStoreUpload(session.id, 'store-1')).toBe(true);
    expect(await assets.nameStoreUpload(session.id, 'store-2')).toBe(false);
    expect(await assets.readUploadOfAsset(asset.id)).toMatchObject({
      ...{ ...session, status: 'OPEN', storeUploadId: 'store-1' },
    });
    expect(await assets.listExpiredUploads(at(60), 10)).toMatchObject([session]);
    expect(await assets.closeUpload(session.id, 'COMPLETED', at(5))).toBe(true);
    expect(await assets.closeUpload(session.id, 'EXPIRED', at(6))).toBe(false);
    expect(await assets.lockUploadOfAsset(asset.id)).toMatchObject({
      status: 'COMPLETED',
      completedAt: at(5),
    });
  });
});

describe('a provider event', () => {
  const observation: JobObservation = {
    jobId: 'job-1',
    status: 'SUCCEEDED',
    rawStatus: 'done',
    progress: 100,
    providerUpdatedAt: at(3),
    failure: null,
    outputs: [{ index: 0, url: 'https://x/y', expiresAt: at(90) }],
    charge: { amount: '0.25', currency: 'USD' },
    echoedRequestKey: null,
  };
  const newEvent = (
    sourceEventId: string,
    changes: { jobId?: string; requestKey?: string } = {},
  ) => ({
    id: newId(),
    providerId: 'sandbox',
    accountId: 'sandbox-1',
    source: 'callback' as const,
    sourceEventId,
    jobId: 'job-1',
    requestKey: null,
    observation,
    rawDigest: 'digest',
    receivedAt: at(4),
    ...changes,
  });

  it('is stored once, its times intact; repeats are counted on the first', async () => {
    const event = newEvent('e1');
    const { providerEvents } = bench().stores;
    expect(await providerEvents.insert(event, at(900))).toBe('CREATED');
    for (let i = 0; i < 3; i += 1) {
      expect(await providerEvents.insert(newEvent('e1'), at(900))).toBe('DUPLICATE');
    }
    expect(await providerEvents.read(event.id)).toEqual({
      ...event,
      attemptId: null,
      matchedAt: null,
      outcome: null,
    });
    expect(
      await bench().look('SELECT duplicates, status, raw_status FROM provider_events'),
    ).toEqual([{ duplicates: 3, status: 'SUCCEEDED', raw_status: 'done' }]);
  });

  it('is an orphan until its attempt is known, by job or by request key', async () => {
    const { providerEvents, attempts } = bench().stores;
    const byJob = newEvent('e1');
    const attempt = newAttempt(await addTask(bench(), await addTenant(bench())));
    const byKey = newEvent('e2', { jobId: 'job-2', requestKey: attempt.requestKey });
    const stranger = newEvent('e3', { jobId: 'job-3' });
    for (const event of [byJob, byKey, stranger]) await providerEvents.insert(event, at(900));
    expect(await providerEvents.countOrphans()).toBe(3);
    expect(await providerEvents.listMatchableOrphans(10)).toEqual([]);

    await attempts.insert(attempt, NOW);
    const stored = await attempts.read(attempt.id);
    if (stored === null) throw new Error('no attempt');
    await attempts.patch(stored, 'SENDING', { jobId: 'job-1' }, at(1));
    const ids = (events: readonly { id: string }[]) => events.map(({ id }) => id);
    expect(ids(await providerEvents.listMatchableOrphans(10))).toEqual([byJob.id, byKey.id]);
    expect(ids(await providerEvents.listOrphansOf('sandbox', 'job-1', attempt.requestKey))).toEqual(
      [byJob.id, byKey.id],
    );

    await providerEvents.markMatched(byJob.id, attempt.id, 'MOVED', at(5));
    expect(await providerEvents.read(byJob.id)).toMatchObject({
      attemptId: attempt.id,
      matchedAt: at(5),
      outcome: 'MOVED',
    });
    expect(await providerEvents.countOrphans()).toBe(2);
  });
});

describe('the catalogue', () => {
  const addProvider = async (status: string) => {
    await bench().look(
      `INSERT INTO providers VALUES ('sandbox', 'Sandbox', $1, 'EXPIRE', 60000, 5000, 1000, '{127.0.0.1}', true, 'none', $2, $2)`,
      [status, NOW],
    );
    await bench().look(
      `INSERT INTO provider_accounts (id, provider_id, base_url, secret_ref, status, concurrent_max, created_at, updated_at)
       VALUES ('sandbox-1', 'sandbox', 'http://127.0.0.1', 'SECRET', 'ACTIVE', 4, $1, $1)`,
      [NOW],
    );
    await bench().look(
      `INSERT INTO provider_models VALUES ('model-1', 'sandbox', 'm', 'Model', 'd', 'ACTIVE', 5, '{16:9}', '{720p}',
         1000, 8000, 1000, true, true, 500, '{"720p": "1250000"}', 0.05, 'USD', $1, $1)`,
      [NOW],
    );
  };

  it('tells tenants, models, providers and accounts', async () => {
    const tenantId = await addTenant(bench());
    await addProvider('ACTIVE');
    const { catalog } = bench().stores;
    expect(await catalog.readTenant(tenantId)).toEqual({
      id: tenantId,
      name: 'Tenant',
      tier: 'STANDARD',
      status: 'ACTIVE',
      inFlightMax: 10,
      queuedMax: 100,
      uploadBytesMax: 1_000_000n,
      retentionDays: 30,
      chargedFailureBearer: 'PLATFORM',
    });
    const [model] = await catalog.listModels();
    expect(model).toMatchObject({
      id: 'model-1',
      status: 'ACTIVE',
      aspectRatios: ['16:9'],
      pricePerSecondMicros: { '720p': 1_250_000n },
      costPerSecond: '0.050000',
    });
    expect(await catalog.readModel('model-1')).toEqual(model);
    expect(await catalog.readModel('none')).toBeNull();
    expect(await catalog.readProvider('sandbox')).toMatchObject({
      unknownWindowMs: 60_000,
      createSettlesMs: 90_000,
      outputHosts: ['127.0.0.1'],
      chargesOnCancel: true,
    });
    for (let i = 0; i < 3; i += 1) await catalog.noteCircuit('sandbox-1', true, 3, at(60), at(1));
    expect(await catalog.listAccounts()).toEqual([
      {
        id: 'sandbox-1',
        providerId: 'sandbox',
        status: 'ACTIVE',
        concurrentMax: 4,
        circuitOpenUntil: at(60),
        circuitProbeUntil: null,
        throttledMax: null,
        throttledUntil: null,
        baseUrl: 'http://127.0.0.1',
        secretRef: 'SECRET',
        circuitFailures: 3,
      },
    ]);
  });

  it('shows models and accounts of a paused provider as paused', async () => {
    await addProvider('PAUSED');
    const { catalog } = bench().stores;
    expect(await catalog.readModel('model-1')).toMatchObject({ status: 'PAUSED' });
    expect(await catalog.readAccount('sandbox-1')).toMatchObject({ status: 'PAUSED' });
  });

  it('keeps quotes as they were told', async () => {
    const quote = {
      id: newId(),
      tenantId: await addTenant(bench()),
      requestHash: 'h',
      model: 'model-1',
      priceMicros: 5n,
      facts: { perSecond: '1' },
      tier: 'STANDARD',
      expiresAt: at(600),
    };
    await bench().stores.quotes.insert(quote, NOW);
    expect(await bench().stores.quotes.read(quote.id)).toEqual(quote);
    expect(await bench().stores.quotes.read(newId())).toBeNull();
  });
});

describe('what operators read', () => {
  it('one finding a subject and kind; a repeat refreshes it', async () => {
    const finding = {
      kind: 'STUCK_TASK',
      subjectKind: 'task',
      subjectId: 't1',
      tenantId: null,
      detail: { seen: 1 },
      actionTaken: 'RESUMED',
    } as const;
    const { findings } = bench().stores;
    await findings.record({ ...finding, id: newId(), now: NOW });
    await findings.record({
      ...finding,
      id: newId(),
      detail: { seen: 2 },
      actionTaken: null,
      now: at(9),
    });
    expect(
      await bench().look('SELECT detail, action_taken, first_seen_at, last_seen_at FROM findings'),
    ).toEqual([
      { detail: { seen: 2 }, action_taken: 'RESUMED', first_seen_at: NOW, last_seen_at: at(9) },
    ]);
  });

  it('moderation decisions and the audit log, which is never changed', async () => {
    const tenantId = await addTenant(bench());
    await bench().stores.moderation.record({
      id: newId(),
      tenantId,
      subjectKind: 'PROMPT',
      subjectId: 't1',
      verdict: 'REJECT',
      reasonCode: 'VIOLENCE',
      rulesVersion: '1',
      decidedBy: 'rules',
      now: NOW,
    });
    await bench().stores.audit.record({
      id: newId(),
      tenantId,
      actor: 'operator',
      action: 'REFUND',
      subjectKind: 'task',
      subjectId: 't1',
      reason: null,
      before: { credits: 5n },
      after: null,
      now: NOW,
    });
    expect(await bench().look('SELECT verdict FROM moderation_decisions')).toHaveLength(1);
    expect(await bench().look('SELECT before, after FROM audit_log')).toEqual([
      { before: { credits: '5' }, after: null },
    ]);
    await expect(bench().look('DELETE FROM audit_log')).rejects.toMatchObject({
      constraint: 'append_only',
    });
  });

  it('Prisma reads the same rows', async () => {
    const task = await addTask(bench(), await addTenant(bench()));
    const prisma = createPrisma({ connectionString: bench().database.url, max: 1 });
    try {
      const row = await prisma.generation_tasks.findUnique({ where: { id: task.id } });
      expect(row).toMatchObject({ status: 'QUEUED', price_micros: 5_000_000n, created_at: NOW });
    } finally {
      await prisma.$disconnect();
    }
  });
});
