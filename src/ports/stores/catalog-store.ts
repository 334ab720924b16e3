import type { ChargedFailureBearer } from '../../domain/billing/settlement';
import type { AccountOffer, ModelOffer } from '../../domain/scheduling/routing';

export interface Tenant {
  readonly id: string;
  readonly name: string;
  readonly tier: 'FREE' | 'STANDARD' | 'PREMIUM';
  readonly status: 'ACTIVE' | 'PAUSED';
  readonly inFlightMax: number;
  readonly queuedMax: number;
  readonly uploadBytesMax: bigint;
  readonly retentionDays: number;
  readonly chargedFailureBearer: ChargedFailureBearer;
}

export interface Provider {
  readonly id: string;
  readonly displayName: string;
  readonly status: 'ACTIVE' | 'PAUSED';
  readonly undecidablePolicy: 'EXPIRE' | 'RETRY';
  /** How long an unknown submit may stay undecided. */
  readonly unknownWindowMs: number;
  /** After how long the slowest create has made its job, or never will: a list's silence counts only from then on. */
  readonly createSettlesMs: number;
  /** How long the provider's list must keep not showing the job, from then on, before absence is confirmed. */
  readonly absenceGraceMs: number;
  readonly pollIntervalMs: number;
  readonly outputHosts: readonly string[];
  readonly chargesOnCancel: boolean;
}

export interface AccountRow extends AccountOffer {
  readonly baseUrl: string;
  /** Name of the secret in the configuration; the secret itself is never in the database. */
  readonly secretRef: string;
  readonly circuitFailures: number;
}

export interface CatalogStore {
  readTenant(tenantId: string): Promise<Tenant | null>;
  listModels(): Promise<ModelOffer[]>;
  readModel(modelId: string): Promise<ModelOffer | null>;
  readProvider(providerId: string): Promise<Provider | null>;
  listAccounts(): Promise<AccountRow[]>;
  readAccount(accountId: string): Promise<AccountRow | null>;
  /**
   * Counts a submit's fate for the account's circuit: failures that come at once count each, and with `failuresMax` in a row
   * it is open until `openUntil`. Anything else closes it.
   */
  noteCircuit(
    accountId: string,
    failed: boolean,
    failuresMax: number,
    openUntil: Date,
    now: Date,
  ): Promise<void>;
  /**
   * Takes the one submit that tries a half-open circuit, until `until`; false when somebody else is trying. True for a
   * circuit that has closed meanwhile.
   */
  claimProbe(accountId: string, until: Date, now: Date): Promise<boolean>;
  /** Halves the account's limit until `until`, but not again before `settledBefore` has passed since the last time. */
  shrinkAccount(accountId: string, until: Date, settledBefore: Date, now: Date): Promise<void>;
}

export interface CatalogSwitches {
  /** Locks the provider's row. */
  lockProvider(providerId: string): Promise<Provider | null>;
  /** Pauses submits, or resumes them: queries and cancels never ask. */
  setProviderStatus(providerId: string, to: Provider['status'], now: Date): Promise<void>;
  lockTenant(tenantId: string): Promise<Tenant | null>;
  setTenantStatus(tenantId: string, to: Tenant['status']): Promise<void>;
}

export interface Quote {
  readonly id: string;
  readonly tenantId: string;
  readonly requestHash: string;
  readonly model: string;
  readonly priceMicros: bigint;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly tier: string;
  readonly expiresAt: Date;
}

export interface QuoteStore {
  insert(quote: Quote, now: Date): Promise<void>;
  read(quoteId: string): Promise<Quote | null>;
}
