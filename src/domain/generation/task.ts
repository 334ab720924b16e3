import type { Micros } from '../kernel/money';
import type { CancelOutcomeWord, CancelReason, TaskStatus } from './statuses';

/** The hot row of a generation. Times are UTC; money is micro-credits. */
export interface Task {
  readonly id: string;
  readonly tenantId: string;
  readonly projectId: string | null;
  readonly apiKeyId: string | null;
  readonly clientIdempotencyKey: string;
  readonly requestHash: string;
  readonly quoteId: string | null;
  readonly status: TaskStatus;
  readonly version: number;
  readonly progress: number;
  readonly requestedModel: string;
  readonly selectedProvider: string | null;
  readonly selectedAccount: string | null;
  readonly currentAttemptNo: number;
  readonly priority: number;
  readonly priceMicros: Micros;
  readonly reservedMicros: Micros;
  readonly settledMicros: Micros | null;
  readonly outputAssetId: string | null;
  /** Generation of the raw object key: raised when a stored raw file turned out corrupt. */
  readonly rawGeneration: number;
  /** When the scheduler shall look at the task; null while nothing is for the scheduler. */
  readonly scheduleAt: Date | null;
  readonly waitReason: string | null;
  readonly waitingSince: Date | null;
  readonly submitTries: number;
  readonly fetchTries: number;
  readonly mediaTries: number;
  readonly stepStartedAt: Date | null;
  readonly nextRetryAt: Date | null;
  readonly deadlineAt: Date;
  readonly recoveryDeadlineAt: Date | null;
  readonly cancelRequestedAt: Date | null;
  readonly cancelReason: CancelReason | null;
  readonly cancelOutcome: CancelOutcomeWord | null;
  readonly lastErrorClass: string | null;
  readonly lastErrorCode: string | null;
  readonly needsOperator: boolean;
  readonly traceId: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

/** What was asked, normalised: defaults resolved, so that equal requests hash equally. */
export interface GenerationRequest {
  readonly model: string;
  readonly prompt: string;
  readonly negativePrompt: string | null;
  readonly seed: number;
  readonly aspectRatio: string;
  readonly resolution: string;
  readonly durationMs: number;
  readonly withAudio: boolean;
  readonly imageAssetId: string | null;
  readonly providerOptions: Readonly<Record<string, unknown>>;
}
