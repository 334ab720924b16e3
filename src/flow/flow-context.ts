import type { Clock } from '../ports/clock';
import type { IdSource } from '../ports/ids';
import type { Log } from '../ports/log';
import type { UnitOfWork } from '../ports/unit-of-work';

import type { AdmissionGate } from './create/watch-admission';

/** Times and limits of the flow, all from the configuration; milliseconds unless the name says otherwise. */
export interface FlowSettings {
  /** From create to the end; past it the provider is asked to cancel. */
  readonly taskDeadlineMs: number;
  /** How long a requested cancel (or deadline) may stay unconfirmed. */
  readonly recoveryWindowMs: number;
  /** The life of a signed URL, and of an upload in one piece. */
  readonly uploadTicketMs: number;
  /** How long an upload in parts may take; URLs of its parts are signed again meanwhile. */
  readonly uploadPartsMs: number;
  readonly downloadTicketMs: number;
  readonly quoteMs: number;
  readonly pollMsFirst: number;
  readonly pollMsMax: number;
  readonly slotTtlMs: number;
  readonly submitLeaseMs: number;
  readonly admissionRetryMs: number;
  readonly platformConcurrentMax: number;
  readonly orphanEventTtlMs: number;
  readonly circuitFailuresMax: number;
  readonly circuitOpenMs: number;
  /** How long an account that was throttled takes fewer jobs; longer where its provider asks for more. */
  readonly throttleMs: number;
  readonly outputBytesMax: number;
  readonly mediaTimeLimitMs: number;
  /** Live tasks untouched for this long, whose next step nobody holds, get their message again. */
  readonly stuckAfterMs: number;
  readonly mediaReviewWindowMs: number;
  /** An event that leaves later than this raises the alarm. */
  readonly relayLagAlarmMs: number;
  /** How long the bytes of a rejected upload are kept, for a person to release them. */
  readonly quarantineKeepMs: number;
  /** Objects that no row names are deleted when they are older than this; longer than any step takes from a put to its row. */
  readonly orphanObjectAgeMs: number;
}

/** What every use case stands on. */
export interface FlowContext {
  readonly uow: UnitOfWork;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Log;
  readonly settings: FlowSettings;
  /** Whether new generations are accepted at present. */
  readonly admission: AdmissionGate;
  /** Uniform in [0, 1), for jitter; seedable. */
  readonly random: () => number;
}
