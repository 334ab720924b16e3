import type { Job } from './line';
import type { Bucket, Scenario, Simulated, Waits } from './scenario';

type End = 'succeeded' | 'failed' | 'expired';

interface Look {
  readonly nowS: number;
  readonly waiting: number;
  readonly oldestS: number;
  readonly inFlight: number;
  readonly mediaWaiting: number;
}

/** Counts what happens in a simulated time. */
export interface Tally {
  arrived(): void;
  submitted(job: Job, nowS: number, inFlight: number): void;
  fetched(): void;
  mediaBegan(job: Job, nowS: number): void;
  ended(how: End, job: Job, nowS: number): void;
  /** So much time went by with so many in flight. */
  pass(seconds: number, inFlight: number): void;
  closeBucket(look: Look): void;
  result(): Simulated;
}

export const createTally = (scenario: Scenario, bucketCount: number): Tally => {
  const ends: Record<End, number> = { succeeded: 0, failed: 0, expired: 0 };
  const queue: number[] = [];
  const byTenant = new Map(scenario.tenants.map(({ name }) => [name, [] as number[]]));
  const total: number[] = [];
  const media: number[] = [];
  const buckets: Bucket[] = [];
  const bucketS = scenario.durationS / bucketCount;
  const slots = Math.min(
    scenario.platformMax,
    scenario.providers.reduce((sum, each) => sum + each.slots, 0),
  );
  let arrivals = 0;
  let submits = 0;
  let inFlightMost = 0;
  let slotSeconds = 0;
  let present = { arrivals: 0, ended: 0, outputs: 0, slotSeconds: 0 };

  return {
    arrived: () => {
      arrivals += 1;
      present.arrivals += 1;
    },
    submitted: (job, nowS, inFlight) => {
      submits += 1;
      inFlightMost = Math.max(inFlightMost, inFlight);
      queue.push(nowS - job.sinceS);
      byTenant.get(job.tenant.name)?.push(nowS - job.sinceS);
    },
    fetched: () => {
      present.outputs += 1;
    },
    mediaBegan: (job, nowS) => {
      media.push(nowS - job.fetchedS);
    },
    ended: (how, job, nowS) => {
      ends[how] += 1;
      present.ended += 1;
      if (how === 'succeeded') total.push(nowS - job.createdS);
    },
    pass: (seconds, inFlight) => {
      slotSeconds += seconds * inFlight;
      present.slotSeconds += seconds * inFlight;
    },
    closeBucket: (look) => {
      buckets.push({
        fromS: look.nowS - bucketS,
        arrivals: present.arrivals,
        ended: present.ended,
        waiting: look.waiting,
        oldestS: look.oldestS,
        inFlight: look.inFlight,
        mediaWaiting: look.mediaWaiting,
        pollsPerS: present.slotSeconds / bucketS / scenario.pollIntervalS,
        fetchBytesPerS: (present.outputs * scenario.outputSizeBytes) / bucketS,
      });
      present = { arrivals: 0, ended: 0, outputs: 0, slotSeconds: 0 };
    },
    result: () => ({
      arrivals,
      ...ends,
      left: arrivals - ends.succeeded - ends.failed - ends.expired,
      submits,
      inFlightMost,
      utilization: slotSeconds / scenario.durationS / slots,
      queue: waitsOf(queue),
      queueByTenant: Object.fromEntries(
        [...byTenant].map(([name, waits]) => [name, waitsOf(waits)]),
      ),
      total: waitsOf(total),
      media: waitsOf(media),
      buckets,
    }),
  };
};

const waitsOf = (waits: readonly number[]): Waits => {
  const sorted = Float64Array.from(waits).sort();
  const at = (part: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
  return { count: sorted.length, p50S: at(0.5), p95S: at(0.95), maxS: at(1) };
};
