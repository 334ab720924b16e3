import type { FindingKind } from '../../domain/generation/decision';

export interface FindingStore {
  /** One row per business key; a repeat refreshes `last_seen_at`. */
  record(finding: {
    readonly id: string;
    readonly kind: FindingKind;
    readonly subjectKind: 'task' | 'attempt' | 'asset' | 'provider_event' | 'slot' | 'tenant';
    readonly subjectId: string;
    readonly tenantId: string | null;
    readonly detail: Readonly<Record<string, unknown>>;
    readonly actionTaken: string | null;
    readonly now: Date;
  }): Promise<void>;
}

export interface ModerationStore {
  record(decision: {
    readonly id: string;
    readonly tenantId: string;
    readonly subjectKind: 'PROMPT' | 'ASSET' | 'OUTPUT';
    readonly subjectId: string;
    readonly verdict: 'APPROVE' | 'REJECT' | 'REVIEW';
    readonly reasonCode: string | null;
    readonly rulesVersion: string;
    readonly decidedBy: string;
    readonly now: Date;
  }): Promise<void>;
}

export interface AuditStore {
  record(entry: {
    readonly id: string;
    readonly tenantId: string | null;
    readonly actor: string;
    readonly action: string;
    readonly subjectKind: string;
    readonly subjectId: string;
    readonly reason: string | null;
    readonly before: Readonly<Record<string, unknown>> | null;
    readonly after: Readonly<Record<string, unknown>> | null;
    readonly now: Date;
  }): Promise<void>;
}

export interface PartitionStore {
  ensureDays(now: Date, days: number): Promise<number>;
  dropBefore(before: Date): Promise<number>;
}
