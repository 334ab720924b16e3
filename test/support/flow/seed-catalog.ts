import type { Pool } from 'pg';

import { MICROS_PER_CREDIT } from '../../../src/domain/kernel/money';
import type { FlowContext } from '../../../src/flow/flow-context';

/** The model every test uses: 2 s at 480p cost 6 credits. */
export const MODEL = 'sandbox-video-1';
export const ACCOUNT = 'sandbox-main';
export const PRICE_MICROS = 6n * MICROS_PER_CREDIT;

export interface CatalogSeed {
  readonly sandboxUrl: string;
  readonly accountConcurrentMax: number;
  readonly undecidablePolicy: 'EXPIRE' | 'RETRY';
}

/** Provider, account and model of the sandbox, as the product's own start writes them. */
export const seedCatalog = async (pool: Pool, seed: CatalogSeed, now: Date): Promise<void> => {
  const host = new URL(seed.sandboxUrl).host;
  await pool.query(
    `INSERT INTO providers (id, display_name, status, undecidable_policy, unknown_window_ms, create_settles_ms, absence_grace_ms,
       poll_interval_ms, output_hosts, charges_on_cancel, data_policy, created_at, updated_at)
     VALUES ('sandbox', 'Sandbox', 'ACTIVE', $1, 900000, 30000, 35000, 5000, $2, true, 'local', $3, $3)`,
    [seed.undecidablePolicy, [host], now],
  );
  await pool.query(
    `INSERT INTO provider_accounts (id, provider_id, base_url, secret_ref, status, concurrent_max, created_at, updated_at)
     VALUES ($1, 'sandbox', $2, 'SANDBOX', 'ACTIVE', $3, $4, $4)`,
    [ACCOUNT, seed.sandboxUrl, seed.accountConcurrentMax, now],
  );
  await pool.query(
    `INSERT INTO provider_models (id, provider_id, provider_model, display_name, description, status, quality,
       aspect_ratios, resolutions, duration_ms_min, duration_ms_max, duration_ms_step, supports_image, supports_audio,
       prompt_chars_max, price_per_second, cost_per_second, cost_currency, created_at, updated_at)
     VALUES ($1, 'sandbox', 'sandbox-video-1', 'Sandbox Video 1', 'A model', 'ACTIVE', 2, '{16:9,9:16}', '{480p,720p}',
       2000, 10000, 1000, true, true, 200, '{"480p": "3000000", "720p": "7000000"}', 0.05, 'USD', $2, $2)`,
    [MODEL, now],
  );
};

export interface TenantSeed {
  readonly credits: bigint;
  readonly tier: 'FREE' | 'STANDARD' | 'PREMIUM';
  readonly inFlightMax: number;
  readonly queuedMax: number;
  readonly chargedFailureBearer: 'PLATFORM' | 'TENANT';
}

export const TENANT: TenantSeed = {
  credits: 1_000n,
  tier: 'STANDARD',
  inFlightMax: 100,
  queuedMax: 1_000,
  chargedFailureBearer: 'PLATFORM',
};

/** A tenant with credits; answers its id. */
export const addTenant = async (
  pool: Pool,
  context: FlowContext,
  changes: Partial<TenantSeed> = {},
): Promise<string> => {
  const seed = { ...TENANT, ...changes };
  const now = context.clock.now();
  const tenantId = context.ids.next(now);
  await pool.query(
    `INSERT INTO tenants (id, name, tier, status, in_flight_max, queued_max, upload_bytes_max, retention_days,
       charged_failure_bearer, created_at)
     VALUES ($1, 'Tenant', $6, 'ACTIVE', $2, $3, 50000000, 30, $4, $5)`,
    [tenantId, seed.inFlightMax, seed.queuedMax, seed.chargedFailureBearer, now, seed.tier],
  );
  await context.uow.stores.money.grant({
    tenantId,
    amountMicros: seed.credits * MICROS_PER_CREDIT,
    businessKey: `grant:${tenantId}:start`,
    reason: 'START',
    actor: 'test',
    entryId: context.ids.next(now),
    now,
  });
  return tenantId;
};
