import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Job, JobCost, VideoRequest } from './job';
import { JsonLinesLog } from './log';

/** Price of one second in ten-thousandths of a dollar. */
const RATE_PER_SECOND = { '480p': 200, '720p': 500, '1080p': 1200 } as const;

export interface Charge {
  readonly id: string;
  /** Null for a refusal that was charged: no job came of it. */
  readonly job_id: string | null;
  readonly reference: string | null;
  readonly amount: string;
  readonly currency: 'USD';
  readonly at: string;
}

/** The price of a request, rounded up, in ten-thousandths of a dollar. */
export function priceOf(request: VideoRequest): number {
  return Math.ceil((request.duration_ms * RATE_PER_SECOND[request.resolution]) / 1000);
}

/** Writes ten-thousandths of a dollar as an exact decimal. */
export function costOf(tenThousandths: number): JobCost {
  const whole = Math.floor(tenThousandths / 10_000);
  const rest = String(tenThousandths % 10_000).padStart(4, '0');
  return { amount: `${whole}.${rest}`, currency: 'USD' };
}

/** What was really charged; the invoice is read from here and from nowhere else. */
export class ChargeBook {
  private readonly log: JsonLinesLog<Charge>;
  private readonly charges: Charge[];
  private readonly chargedJobs: Set<string>;

  constructor(dataDir: string) {
    const { log, entries } = JsonLinesLog.open<Charge>(join(dataDir, 'charges.jsonl'));
    this.log = log;
    this.charges = entries;
    this.chargedJobs = new Set(entries.flatMap((entry) => entry.job_id ?? []));
  }

  /** Charges a job once, however often it is asked; nothing is logged for a price of nothing. */
  chargeJob(job: Job, cost: JobCost): void {
    if (Number(cost.amount) === 0 || this.chargedJobs.has(job.id)) return;
    this.chargedJobs.add(job.id);
    this.record(job.id, job.request.reference, cost);
  }

  chargeRefusal(reference: string | null, cost: JobCost): void {
    this.record(null, reference, cost);
  }

  all(): readonly Charge[] {
    return this.charges;
  }

  /** Charges with `from` ≤ at < `to`. */
  between(from: Date, to: Date): Charge[] {
    return this.charges.filter((charge) => {
      const at = Date.parse(charge.at);
      return at >= from.getTime() && at < to.getTime();
    });
  }

  close(): void {
    this.log.close();
  }

  private record(jobId: string | null, reference: string | null, cost: JobCost): void {
    const charge: Charge = {
      id: `chg_${randomUUID()}`,
      job_id: jobId,
      reference,
      amount: cost.amount,
      currency: cost.currency,
      at: new Date().toISOString(),
    };
    this.log.append(charge);
    this.charges.push(charge);
  }
}
