import type { Scenario, SimulatedProvider, SimulatedTenant } from './scenario';

/** One generation on its way. */
export interface Job {
  readonly tenant: SimulatedTenant;
  readonly provider: SimulatedProvider;
  readonly createdS: number;
  /** Since when it waits for a slot. */
  sinceS: number;
  tries: number;
  /** When its output was there. */
  fetchedS: number;
  /** Whether it waits for a slot. */
  inLine: boolean;
}

/** Those that wait, and the places they wait for. */
export interface Line {
  enter(job: Job): void;
  /** The next that has a place on all levels, which is taken; null when none has. */
  take(isOut: (provider: SimulatedProvider) => boolean): Job | null;
  /** Gives its places back. */
  leave(job: Job): void;
  /** Out of the line, for its deadline; false when it does not wait. */
  remove(job: Job): boolean;
  waiting(): number;
  oldestS(nowS: number): number;
  inFlight(): number;
}

interface Use {
  inFlight: number;
}

interface Lane {
  readonly tenant: SimulatedTenant;
  readonly ofTenant: Use;
  /** First come first; those before `head`, and those that wait no longer, are gone. */
  readonly jobs: Job[];
  head: number;
}

interface Desk {
  readonly provider: SimulatedProvider;
  readonly use: Use;
  readonly lanes: ReadonlyMap<SimulatedTenant, Lane>;
  /** The lanes in which somebody may wait. */
  readonly busy: Set<Lane>;
}

/** A lane for each tenant and provider: within it the order is that of waiting, between them that of the scheduler. */
export const createLine = (scenario: Scenario): Line => {
  const ofTenant = new Map(scenario.tenants.map((tenant) => [tenant, { inFlight: 0 }]));
  const desks = new Map(
    scenario.providers.map((provider) => [provider, createDesk(provider, ofTenant)]),
  );
  let waiting = 0;
  let inFlight = 0;

  /** Places are taken and given back on the levels of tenant, provider and platform at once. */
  const use = ({ tenant, provider }: Job, by: number): void => {
    inFlight += by;
    (ofTenant.get(tenant) as Use).inFlight += by;
    (desks.get(provider) as Desk).use.inFlight += by;
  };

  return {
    enter: (job) => {
      const desk = desks.get(job.provider) as Desk;
      const lane = desk.lanes.get(job.tenant) as Lane;
      lane.jobs.push(job);
      desk.busy.add(lane);
      job.inLine = true;
      waiting += 1;
    },
    take: (isOut) => {
      if (waiting === 0 || inFlight >= scenario.platformMax) return null;
      let first: Candidate | null = null;
      for (const desk of desks.values()) {
        if (desk.use.inFlight >= desk.provider.slots || isOut(desk.provider)) continue;
        for (const lane of desk.busy) {
          if (lane.ofTenant.inFlight >= lane.tenant.inFlightMax) continue;
          const job = headOf(lane, desk);
          if (job !== null && (first === null || isBefore({ lane, job }, first)))
            first = { lane, job };
        }
      }
      if (first === null) return null;
      const { job } = first;
      job.inLine = false;
      job.tries += 1;
      waiting -= 1;
      use(job, 1);
      return job;
    },
    leave: (job) => use(job, -1),
    remove: (job) => {
      if (!job.inLine) return false;
      job.inLine = false;
      waiting -= 1;
      return true;
    },
    waiting: () => waiting,
    oldestS: (nowS) => {
      let oldest = 0;
      for (const desk of desks.values()) {
        for (const lane of desk.busy) {
          const job = headOf(lane, desk);
          if (job !== null) oldest = Math.max(oldest, nowS - job.sinceS);
        }
      }
      return oldest;
    },
    inFlight: () => inFlight,
  };
};

const createDesk = (
  provider: SimulatedProvider,
  ofTenant: ReadonlyMap<SimulatedTenant, Use>,
): Desk => ({
  provider,
  use: { inFlight: 0 },
  lanes: new Map(
    [...ofTenant].map(([tenant, use]) => [tenant, { tenant, ofTenant: use, jobs: [], head: 0 }]),
  ),
  busy: new Set(),
});

const GONE_MAX = 1_000;

/** Who waits longest in a lane; a lane in which nobody waits is not looked at again until somebody enters. */
const headOf = (lane: Lane, desk: Desk): Job | null => {
  while (lane.jobs[lane.head]?.inLine === false) lane.head += 1;
  if (lane.head > GONE_MAX && lane.head * 2 > lane.jobs.length) {
    lane.jobs.splice(0, lane.head);
    lane.head = 0;
  }
  const head = lane.jobs[lane.head] ?? null;
  if (head === null) desk.busy.delete(lane);
  return head;
};

interface Candidate {
  readonly lane: Lane;
  readonly job: Job;
}

/** The order of the scheduler's own query. */
const isBefore = (a: Candidate, b: Candidate): boolean => {
  if (a.lane.tenant.priority !== b.lane.tenant.priority) {
    return a.lane.tenant.priority > b.lane.tenant.priority;
  }
  const [left, right] = [a.lane.ofTenant.inFlight, b.lane.ofTenant.inFlight];
  return left === right ? a.job.sinceS < b.job.sinceS : left < right;
};
