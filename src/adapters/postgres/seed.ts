import type { PrismaClient } from './generated/client';

export interface SandboxSeed {
  readonly baseUrl: string;
  readonly concurrentMax: number;
}

/** Micro-credits per second by resolution: a third above what the sandbox charges the platform. */
const PRICES = { '480p': '3000000', '720p': '7000000', '1080p': '16000000' } as const;

/**
 * Writes the catalogue of the sandbox provider: provider, account, models. Repeating it brings address and limits up to date
 * and leaves an operator's pause in place.
 */
export const seedSandboxCatalog = async (
  prisma: PrismaClient,
  seed: SandboxSeed,
  now: Date,
): Promise<void> => {
  const host = new URL(seed.baseUrl).host;
  await prisma.providers.upsert({
    where: { id: 'sandbox' },
    create: {
      id: 'sandbox',
      display_name: 'AiVedio Sandbox',
      status: 'ACTIVE',
      undecidable_policy: 'EXPIRE',
      unknown_window_ms: 15 * 60_000,
      create_settles_ms: 90_000,
      absence_grace_ms: 35_000,
      poll_interval_ms: 5_000,
      output_hosts: [host],
      charges_on_cancel: true,
      data_policy: 'Local program: keeps jobs and files below its data folder, trains nothing.',
      created_at: now,
      updated_at: now,
    },
    update: { output_hosts: [host], updated_at: now },
  });
  await prisma.provider_accounts.upsert({
    where: { id: 'sandbox-main' },
    create: {
      id: 'sandbox-main',
      provider_id: 'sandbox',
      base_url: seed.baseUrl,
      secret_ref: 'SANDBOX',
      status: 'ACTIVE',
      concurrent_max: seed.concurrentMax,
      created_at: now,
      updated_at: now,
    },
    update: { base_url: seed.baseUrl, concurrent_max: seed.concurrentMax, updated_at: now },
  });
  for (const model of MODELS) {
    await prisma.provider_models.upsert({
      where: { id: model.id },
      create: { ...model, created_at: now, updated_at: now },
      update: { price_per_second: model.price_per_second, updated_at: now },
    });
  }
};

const COMMON = {
  provider_id: 'sandbox',
  status: 'ACTIVE',
  aspect_ratios: ['16:9', '9:16', '1:1'],
  duration_ms_min: 2_000,
  duration_ms_max: 10_000,
  duration_ms_step: 1_000,
  prompt_chars_max: 1_000,
  cost_per_second: '0.05',
  cost_currency: 'USD',
} as const;

const MODELS = [
  {
    ...COMMON,
    id: 'sandbox-video-1',
    provider_model: 'sandbox-video-1',
    display_name: 'Sandbox Video 1',
    description: 'Renders a real clip locally from prompt, seed and reference image, with sound.',
    quality: 2,
    resolutions: ['720p', '480p', '1080p'],
    supports_image: true,
    supports_audio: true,
    price_per_second: PRICES,
    aspect_ratios: [...COMMON.aspect_ratios],
  },
  {
    ...COMMON,
    id: 'sandbox-video-1-mini',
    provider_model: 'sandbox-video-1-mini',
    display_name: 'Sandbox Video 1 mini',
    description: 'The same pictures, smaller and silent; text only.',
    quality: 1,
    resolutions: ['480p', '720p'],
    supports_image: false,
    supports_audio: false,
    price_per_second: { '480p': '2500000', '720p': '6000000' },
    aspect_ratios: [...COMMON.aspect_ratios],
  },
];

export interface FirstTenant {
  readonly tenantId: string;
  readonly name: string;
}

/** The tenant that a first start makes; null when there is any tenant already. */
export const insertFirstTenant = async (
  prisma: PrismaClient,
  tenant: FirstTenant,
  now: Date,
): Promise<boolean> => {
  if ((await prisma.tenants.count()) > 0) return false;
  await prisma.tenants.create({ data: tenantRow(tenant, now) });
  return true;
};

/** Finds the tenant of that name, the oldest where several have it; makes it with an empty account where none has. */
export const findOrInsertTenant = (
  prisma: PrismaClient,
  tenant: FirstTenant,
  now: Date,
): Promise<string> =>
  prisma.$transaction(async (tx) => {
    // Two at once with one name make one tenant: names have no unique key.
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('tenant by name', 0))`;
    const found = await tx.tenants.findFirst({
      where: { name: tenant.name },
      orderBy: { id: 'asc' },
    });
    if (found !== null) return found.id;
    await tx.tenants.create({ data: tenantRow(tenant, now) });
    await tx.accounts.create({
      data: {
        tenant_id: tenant.tenantId,
        available_micros: 0n,
        held_micros: 0n,
        version: 0n,
        updated_at: now,
      },
    });
    return tenant.tenantId;
  });

const tenantRow = ({ tenantId, name }: FirstTenant, now: Date) => ({
  id: tenantId,
  name,
  tier: 'STANDARD',
  status: 'ACTIVE',
  in_flight_max: 5,
  queued_max: 5_000,
  upload_bytes_max: 512n * 1024n * 1024n,
  retention_days: 30,
  charged_failure_bearer: 'PLATFORM',
  created_at: now,
});
