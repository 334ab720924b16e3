import {
  holdsSlot,
  isAttemptSettled,
  mayAttemptMove,
  type AttemptStatus,
} from '../../../../src/domain/attempt/statuses';
import { ledgerKeys, type LedgerKind } from '../../../../src/domain/billing/outcomes';
import { settle, type ChargeKnowledge } from '../../../../src/domain/billing/settlement';
import { decide, isAdoption } from '../../../../src/domain/generation/decide';
import type {
  Decision,
  FindingKind,
  Step,
  TaskEvent,
  TaskFacts,
} from '../../../../src/domain/generation/decision';
import { evolve } from '../../../../src/domain/generation/evolve';
import { isTerminal } from '../../../../src/domain/generation/statuses';
import type { Task } from '../../../../src/domain/generation/task';
import type { JobStatus } from '../../../../src/domain/provider/vocabulary';
import type { Facts, HistoryRow, LedgerRow } from '../../../../src/domain/reconciliation/facts';
import { newTask } from './new-task';

const TENANT = 'tenant';
const GRANTED = 5_000_000n;

/** What the provider really has, whether or not anybody was told. */
export interface ProviderJob {
  readonly jobId: string;
  status: Exclude<JobStatus, 'UNRECOGNIZED'>;
  hasOutputs: boolean;
  /** What it has been so far: an observation may be late. */
  readonly past: JobStatus[];
}

export interface SimulatedAttempt {
  readonly id: string;
  readonly no: number;
  status: AttemptStatus;
  jobId: string | null;
  /** Set when the request left: the job it made, or null where it made none. */
  truth: ProviderJob | null;
  sent: boolean;
  answered: boolean;
  watched: boolean;
  /** Its request reached the provider after it was taken for never made. */
  late: boolean;
  hasSlot: boolean;
  cancelAsked: boolean;
  charge: ChargeKnowledge;
}

export interface Applied {
  readonly event: TaskEvent;
  readonly attempt: SimulatedAttempt | null;
  readonly before: Task;
  readonly decision: Decision;
}

/** One generation in a world of plain arrays: what a store, the slots and a provider would hold. */
export class SimulatedWorld {
  task: Task = newTask();
  readonly attempts: SimulatedAttempt[] = [];
  readonly history: HistoryRow[] = [];
  readonly ledger: LedgerRow[] = [];
  readonly findings: FindingKind[] = [];
  hold: 'NONE' | 'OPEN' | 'CLOSED' = 'NONE';
  closings = 0;
  private tick = 0;

  constructor() {
    this.post('GRANT', GRANTED, GRANTED, 0n, ledgerKeys.firstGrant(TENANT));
    this.history.push(this.historyRow('created', null));
  }

  get current(): SimulatedAttempt | null {
    return this.attempts[this.task.currentAttemptNo - 1] ?? null;
  }

  /** Judges and commits one event, as the flow does in one transaction. */
  apply(event: TaskEvent, attempt: SimulatedAttempt | null): Applied {
    this.withdrawUnsent(event, attempt);
    const before = this.task;
    const decision = decide(this.factsFor(attempt), event);
    this.moveAttempt(attempt, decision.attemptTo);
    for (const effect of decision.effects) {
      if (effect.kind === 'RECORD_FINDING') this.findings.push(effect.finding);
      if (effect.kind === 'REQUEST_CANCEL' && attempt !== null) attempt.cancelAsked = true;
      if (effect.kind === 'FREE_SLOT' && attempt !== null) this.freeSlot(attempt);
    }
    if (decision.kind === 'MOVE') {
      for (const step of decision.steps) this.moveTask(step, event, decision, attempt);
      if (decision.effects.some(({ kind }) => kind === 'CLOSE_HOLD')) this.closeHold();
    }
    return { event, attempt, before, decision };
  }

  /** The request arrives after its absence was believed: a job all the same. */
  arriveLate(attempt: SimulatedAttempt): void {
    const jobId = `job-${attempt.no}`;
    attempt.truth = { jobId, status: 'QUEUED', hasOutputs: false, past: ['QUEUED'] };
    attempt.late = true;
  }

  /** As the flow does under the locks, before the event of an earlier attempt's job itself. */
  private withdrawUnsent(event: TaskEvent, attempt: SimulatedAttempt | null): void {
    const newer = this.current;
    if (this.task.status !== 'DISPATCHING' || newer?.status !== 'NEW') return;
    if (attempt === null || attempt === newer) return;
    const facts = { status: attempt.status, hasJob: attempt.jobId !== null, isCurrent: false };
    if (isAdoption(facts, event)) this.apply({ type: 'never_sent' }, newer);
  }

  /** The reservation comes before the step and may be refused; here the balance always suffices. */
  openHold(): void {
    this.hold = 'OPEN';
    const amount = this.task.priceMicros;
    this.post('RESERVE', amount, -amount, amount, ledgerKeys.reserve(this.task.id));
  }

  /** The scheduler's transaction: a new attempt and the claim, or neither. */
  claimDispatch(): Applied {
    const applied = this.apply({ type: 'dispatch_claimed' }, this.current);
    if (applied.decision.kind === 'MOVE') this.attempts.push(this.newAttempt());
    return applied;
  }

  /** The worker's compare-and-set, which also requires the task to be DISPATCHING. */
  send(attempt: SimulatedAttempt, creates: boolean): void {
    if (attempt.status !== 'NEW' || this.task.status !== 'DISPATCHING') return;
    this.moveAttempt(attempt, 'SENDING');
    attempt.sent = true;
    if (!creates) return;
    const jobId = `job-${attempt.no}`;
    attempt.truth = { jobId, status: 'QUEUED', hasOutputs: false, past: ['QUEUED'] };
  }

  bindJob(attempt: SimulatedAttempt): void {
    attempt.jobId ??= attempt.truth?.jobId ?? `job-${attempt.no}`;
  }

  raiseProgress(percent: number): void {
    this.task = { ...this.task, progress: Math.max(this.task.progress, percent) };
  }

  refund(amount: bigint): void {
    const settled = this.task.settledMicros ?? 0n;
    const refunded = this.ledger.filter(({ kind }) => kind === 'REFUND');
    const left = settled - refunded.reduce((all, row) => all + row.amountMicros, 0n);
    const granted = amount < left ? amount : left;
    if (granted === 0n) return;
    const key = ledgerKeys.refund(this.task.id, refunded.length + 1);
    this.post('REFUND', granted, granted, 0n, key);
  }

  facts(): Facts {
    const sum = (of: (row: LedgerRow) => bigint): bigint =>
      this.ledger.reduce((all, row) => all + of(row), 0n);
    return {
      tasks: [this.task],
      attempts: this.attempts.map((a) => ({
        id: a.id,
        taskId: this.task.id,
        attemptNo: a.no,
        status: a.status,
        jobId: a.jobId,
      })),
      history: this.history,
      holds:
        this.hold === 'NONE'
          ? []
          : [
              {
                taskId: this.task.id,
                tenantId: TENANT,
                amountMicros: this.task.priceMicros,
                status: this.hold,
              },
            ],
      ledger: this.ledger,
      accounts: [
        {
          tenantId: TENANT,
          availableMicros: sum((row) => row.availableDelta),
          heldMicros: sum((row) => row.heldDelta),
        },
      ],
      pendingSettlements: [],
      providerJobs: this.attempts.flatMap((a) =>
        a.truth === null ? [] : [{ jobId: a.truth.jobId, attemptId: a.id }],
      ),
    };
  }

  private factsFor(attempt: SimulatedAttempt | null): TaskFacts {
    return {
      status: this.task.status,
      version: this.task.version,
      cancelReason: this.task.cancelReason,
      attempt:
        attempt === null
          ? null
          : {
              status: attempt.status,
              hasJob: attempt.jobId !== null,
              isCurrent: attempt.no === this.task.currentAttemptNo,
            },
      earlierAttemptUnknown: this.attempts.some(
        (a) => a.status === 'UNKNOWN' || (a.status === 'ABANDONED' && a.watched),
      ),
      othersAreOver: this.attempts.every((a) => a === attempt || isAttemptSettled(a.status)),
    };
  }

  private newAttempt(): SimulatedAttempt {
    const no = this.attempts.length + 1;
    return {
      id: `attempt-${no}`,
      no,
      status: 'NEW',
      jobId: null,
      truth: null,
      sent: false,
      answered: false,
      watched: true,
      late: false,
      hasSlot: true,
      cancelAsked: false,
      charge: { kind: 'UNKNOWN' },
    };
  }

  private moveAttempt(attempt: SimulatedAttempt | null, to: AttemptStatus | null): void {
    if (to === null) return;
    if (attempt === null) throw new Error(`no attempt to move to ${to}`);
    if (!mayAttemptMove(attempt.status, to)) {
      throw new Error(`attempt ${attempt.no} may not go from ${attempt.status} to ${to}`);
    }
    attempt.status = to;
  }

  /** A freed slot is found again by the rebuild if its job turns up alive; until then it is gone. */
  private freeSlot(attempt: SimulatedAttempt): void {
    if (holdsSlot(attempt.status)) {
      throw new Error(`attempt ${attempt.no} is ${attempt.status} and gave its slot back`);
    }
    attempt.hasSlot = false;
  }

  private moveTask(
    step: Step,
    event: TaskEvent,
    decision: Decision,
    attempt: SimulatedAttempt | null,
  ): void {
    this.tick += 1;
    const now = new Date(this.tick * 1000);
    const from = this.task.status;
    const patch = evolve(this.task, step, {
      now,
      retryAt: null,
      cancelReason: event.type === 'cancel_requested' ? event.reason : null,
      cancelOutcome: decision.kind === 'MOVE' ? decision.cancelOutcome : null,
      recoveryWindowMs: 60_000,
      attempt: {
        attemptNo:
          step.event === 'dispatch_claimed' ? this.attempts.length + 1 : (attempt?.no ?? 0),
        providerId: 'provider',
        accountId: 'account',
      },
      error: null,
    });
    this.task = {
      ...this.task,
      ...patch,
      status: step.to,
      version: this.task.version + 1,
      updatedAt: now,
    };
    this.history.push(this.historyRow(step.event, from));
  }

  private closeHold(): void {
    if (this.hold !== 'OPEN') return;
    if (!isTerminal(this.task.status)) throw new Error(`hold closed at ${this.task.status}`);
    this.hold = 'CLOSED';
    this.closings += 1;
    const { settleMicros, releaseMicros } = settle({
      end: this.task.status,
      heldMicros: this.task.priceMicros,
      deliveredMicros: this.task.priceMicros,
      charge: this.current?.charge ?? { kind: 'NOT_SUBMITTED' },
      bearer: 'TENANT',
    });
    this.task = { ...this.task, settledMicros: settleMicros };
    if (settleMicros > 0n) {
      this.post('SETTLE', settleMicros, 0n, -settleMicros, ledgerKeys.settle(this.task.id));
    }
    if (releaseMicros > 0n) {
      const key = ledgerKeys.release(this.task.id);
      this.post('RELEASE', releaseMicros, releaseMicros, -releaseMicros, key);
    }
  }

  private post(
    kind: LedgerKind,
    amountMicros: bigint,
    availableDelta: bigint,
    heldDelta: bigint,
    businessKey: string,
  ): void {
    const taskId = kind === 'GRANT' ? null : this.task.id;
    this.ledger.push({
      tenantId: TENANT,
      taskId,
      kind,
      amountMicros,
      availableDelta,
      heldDelta,
      businessKey,
    });
  }

  private historyRow(type: string, from: Task['status'] | null): HistoryRow {
    return {
      taskId: this.task.id,
      type,
      from,
      to: this.task.status,
      taskVersion: this.task.version,
      ignoredReason: null,
    };
  }
}
