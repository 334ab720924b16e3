/** What a back end says of itself. The detail is one line for an operator: what was tried, and what came of it; no secret. */
export interface Health {
  readonly ok: boolean;
  readonly detail: string;
}

/** Asks a back end the cheapest question that proves that it can be used. May reject, and may hang: both count as not ok. */
export type HealthCheck = () => Promise<Health>;

/**
 * What the loss of a part means to this process. Without a REQUIRED part it is not ready. Without a DEGRADING one it goes on
 * and says so; but until such a part has answered once it is not ready either, since a part that never answered is a wrong
 * address, a wrong secret or a missing bucket rather than an outage. An INFORMATION never decides.
 */
export type HealthWeight = 'REQUIRED' | 'DEGRADING' | 'INFORMATION';

export interface PartHealth extends Health {
  readonly name: string;
  readonly weight: HealthWeight;
}

export interface HealthReport {
  readonly status: 'ready' | 'degraded' | 'not ready' | 'draining';
  readonly parts: readonly PartHealth[];
}

export const isReady = ({ status }: HealthReport): boolean =>
  status === 'ready' || status === 'degraded';
