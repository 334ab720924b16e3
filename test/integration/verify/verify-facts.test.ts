import { Client } from 'pg';

import { openLook } from '../../../src/adapters/postgres/verify/open-look';
import { CHECKS } from '../../../src/flow/verify/check-list';
import { verifyFacts } from '../../../src/flow/verify/verify-facts';
import { addressOf } from '../../support/test-server';
import { serverUrl, type TestDatabase } from '../../support/database';
import { PLANTED_FAULTS } from './planted-faults';
import { makeSoundFacts, verifyDatabase, type SoundFacts } from './sound-facts';

const MACHINE = ['no_secret_in_logs', 'no_leftover_files', 'no_leftover_processes'];

let sound: SoundFacts;
let database: TestDatabase | undefined;

beforeAll(async () => {
  sound = await makeSoundFacts();
}, 120_000);

afterEach(async () => {
  await database?.drop();
  database = undefined;
});

/** As somebody who can do everything: triggers and foreign keys are off in the session. */
const plant = async (url: string, sql: string): Promise<void> => {
  const superuser = new URL(serverUrl());
  const address = new URL(addressOf(serverUrl(), new URL(url).pathname.slice(1)));
  address.username = superuser.username;
  const client = new Client({ connectionString: address.href });
  await client.connect();
  try {
    await client.query('SET session_replication_role = replica');
    await client.query(sql);
  } finally {
    await client.end();
  }
};

describe('the stored facts of the real flow', () => {
  it('are sound, and all of them are looked at', async () => {
    database = await sound.copy();
    const report = await verifyDatabase(database.url, sound.now, sound.evidence);
    expect(report.violations).toEqual([]);
    expect(report.unseen).toEqual([]);
    expect(report.checked).toEqual(CHECKS);
    expect(report.rows).toBeGreaterThan(150);
  });

  it('are left as they were', async () => {
    database = await sound.copy();
    const count = `SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::int AS writes FROM pg_stat_xact_user_tables`;
    const look = `SELECT md5(string_agg(t::text, '' ORDER BY id)) AS digest FROM generation_tasks t`;
    const before = (await database.pool.query(look)).rows;
    await verifyDatabase(database.url, sound.now, sound.evidence);
    expect((await database.pool.query(look)).rows).toEqual(before);
    expect((await database.pool.query(count)).rows).toEqual([{ writes: 0 }]);
  });

  it.each(PLANTED_FAULTS.map((fault) => [fault.invariant, fault.what, fault] as const))(
    '%s sees %s, and nobody else does',
    async (invariant, _, fault) => {
      database = await sound.copy();
      if (fault.sql !== undefined) await plant(database.url, fault.sql);
      const evidence = fault.evidence?.(sound.evidence) ?? sound.evidence;
      const all = await verifyDatabase(database.url, sound.now, evidence);
      expect([...new Set(all.violations.map((each) => each.invariant))].sort()).toEqual(
        [invariant, ...(fault.alsoSeenBy ?? [])].sort(),
      );
      const one = await verifyDatabase(database.url, sound.now, evidence, [invariant]);
      expect(one.checked.map(({ name }) => name)).toEqual([invariant]);
      expect(one.violations).toEqual(all.violations.filter((each) => each.invariant === invariant));
    },
  );

  it('have a planted fault for every check of rows', () => {
    const planted = new Set(PLANTED_FAULTS.map(({ invariant }) => invariant));
    expect([...planted, ...MACHINE].sort()).toEqual(CHECKS.map(({ name }) => name).sort());
  });
});

describe('a look without witnesses', () => {
  it('says what it could not see', async () => {
    database = await sound.copy();
    const look = await openLook({
      connectionString: database.url,
      connectionTimeoutMs: 20_000,
      statementTimeoutMs: 20_000,
    });
    const report = await verifyFacts(
      {
        look,
        slots: null,
        providerLog: null,
        objects: null,
        deep: false,
        machine: null,
        secrets: [],
      },
      { now: sound.now, settleMs: 60_000, keptMs: 86_400_000, only: null },
    ).finally(() => look.close());
    expect(report.violations).toEqual([]);
    expect(new Set(report.unseen.map(({ needs }) => needs))).toEqual(
      new Set(['slots', 'provider log', 'object store', 'object bytes', 'data folder']),
    );
    expect(report.checked.length + report.unseen.length).toBe(CHECKS.length);
  });
});
