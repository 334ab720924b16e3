import type { Attempt } from '../../domain/attempt/attempt';
import type { TaskEvent } from '../../domain/generation/decision';
import type { TaskPatch } from '../../domain/generation/evolve';
import type { FailureCode } from '../../domain/generation/failures';
import type { Task } from '../../domain/generation/task';
import type { AttemptPatch } from '../../ports/stores/attempt-store';
import type { EventSource } from '../../ports/stores/task-store';

/** An event with the rows it speaks of, as a use case hands it to `applyEvent`. */
export interface EventInput {
  /** Read under `tasks.lock` in this transaction. */
  readonly task: Task;
  /** The attempt in whose name the event speaks, locked after the task; null before the first. */
  readonly attempt: Attempt | null;
  readonly event: TaskEvent;
  readonly origin: {
    readonly source: EventSource;
    readonly sourceEventId?: string | null;
    readonly providerUpdatedAt?: Date | null;
    readonly payload?: Readonly<Record<string, unknown>> | null;
  };
  readonly earlierAttemptUnknown?: boolean;
  readonly taskPatch?: TaskPatch;
  readonly attemptPatch?: AttemptPatch;
  readonly retryAt?: Date | null;
  readonly error?: { readonly class: string; readonly code: FailureCode } | null;
  readonly rawAssetId?: string | null;
  /** What a finding of this event says beside the generation it is about. */
  readonly findingDetail?: Readonly<Record<string, unknown>>;
}
