import { rememberCatalog } from '../../../src/adapters/postgres/stores/remembered-catalog';
import { addTenant, NOW, useStores } from './fixtures';

const bench = useStores();

const remember = (ageMsMax: number) => {
  let now = NOW;
  const uow = rememberCatalog(bench().uow, { now: () => now }, ageMsMax);
  return {
    uow,
    statusOf: async (tenantId: string) => (await uow.stores.catalog.readTenant(tenantId))?.status,
    advance: (ms: number): void => {
      now = new Date(now.getTime() + ms);
    },
  };
};

describe('a remembered catalogue', () => {
  it('is asked once for all who read within its age, and anew after it', async () => {
    const tenantId = await addTenant(bench());
    const memory = remember(1_000);
    expect(await memory.statusOf(tenantId)).toBe('ACTIVE');
    await bench().look("UPDATE tenants SET status = 'PAUSED'");
    memory.advance(999);
    expect(await memory.statusOf(tenantId)).toBe('ACTIVE');
    memory.advance(1);
    expect(await memory.statusOf(tenantId)).toBe('PAUSED');
  });

  it('is forgotten at once by the process that switches it', async () => {
    const tenantId = await addTenant(bench());
    const memory = remember(60_000);
    expect(await memory.statusOf(tenantId)).toBe('ACTIVE');
    await memory.uow.transact((tx) => tx.switches.setTenantStatus(tenantId, 'PAUSED'));
    expect(await memory.statusOf(tenantId)).toBe('PAUSED');
  });
});
