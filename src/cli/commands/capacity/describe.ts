import type { CapacityPlan, Load } from '../../../domain/capacity/plan-capacity';
import type { Scenario, Simulated, Waits } from '../../../domain/capacity/scenario';
import type { MeasuredLoad } from '../../../ports/load-reads';

const line = (name: string, value: string): string => `  ${name.padEnd(34)} ${value}`;

/** Two digits that mean something for what is small, whole numbers for what is large. */
const number = (value: number): string =>
  value.toLocaleString(
    'en-US',
    value < 1 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: value < 100 ? 2 : 0 },
  );

const bytes = (value: number): string =>
  value < 1e9 ? `${number(value / 1e6)} MB` : `${number(value / 1e9)} GB`;

const seconds = (value: number): string =>
  value < 120 ? `${number(value)} s` : `${number(value / 60)} min`;

const measuredOr = (value: number | null, show: (value: number) => string): string =>
  value === null ? 'nothing yet' : show(value);

export const describeMeasured = (measured: MeasuredLoad, windowS: number): string[] => [
  `Measured over ${seconds(windowS)}`,
  line('created', number(measured.created)),
  line('a submit kept its slot', measuredOr(measured.heldS, seconds)),
  line(
    'submits that succeeded',
    measuredOr(measured.successShare, (share) => `${number(share * 100)} %`),
  ),
  line('size of an output', measuredOr(measured.outputSizeBytes, bytes)),
  line('media took', measuredOr(measured.mediaS, seconds)),
  line('transitions', number(measured.transitions)),
  line('waiting now', number(measured.waiting)),
  line('slots of active accounts', number(measured.slots)),
  line('tenants that created', number(measured.tenants.length)),
  '',
];

export const describePlan = (load: Load, plan: CapacityPlan): string[] => [
  `For ${number(load.ratePerS)} generations a second, each ${seconds(load.heldS)} at its provider`,
  line('slots needed', `${number(plan.slotsNeeded)} (there are ${number(load.slots)})`),
  line('what these sustain', `${number(plan.stableRatePerS)} a second`),
  line(
    'growth of the queue',
    plan.queueGrowthPerS === 0 ? 'none' : `${number(plan.queueGrowthPerS * 60)} a minute`,
  ),
  line('jobs in flight', number(plan.jobsInFlight)),
  line(
    'status queries',
    `${number(plan.pollsPerS)} a second without callbacks; every ${seconds(plan.pollIntervalNeededS)} to stay within ${number(load.pollsPerSMax)}`,
  ),
  line('outputs to fetch', `${bytes(plan.fetchBytesPerS)} a second`),
  line(
    'media workers busy',
    `${number(plan.mediaWorkersBusy)} (there are ${number(load.mediaWorkers)})`,
  ),
  line(
    'growth of the media backlog',
    plan.mediaBacklogPerS === 0 ? 'none' : `${number(plan.mediaBacklogPerS * 60)} a minute`,
  ),
  line('transitions', `${number(plan.writesPerS)} a second`),
  line(
    'memory of subscriptions',
    `${bytes(plan.subscriptionBytes)} for ${number(load.subscriptions)}`,
  ),
];

export const describeSimulated = (
  scenario: Scenario,
  simulated: Simulated,
  seed: number,
): string[] => [
  '',
  `Simulated: ${number(scenario.durationS / 3_600)} h, ${number(scenario.tenants.length)} tenants, seed ${number(seed)}`,
  line(
    'created',
    `${number(simulated.arrivals)}: ${number(simulated.succeeded)} succeeded, ${number(simulated.failed)} failed, ${number(simulated.expired)} expired, ${number(simulated.left)} under way`,
  ),
  line('submits', number(simulated.submits)),
  line(
    'in flight at most',
    `${number(simulated.inFlightMost)}; slots busy ${number(simulated.utilization * 100)} %`,
  ),
  line('wait for a slot', waits(simulated.queue)),
  line('wait for a media worker', waits(simulated.media)),
  line('from create to playable', waits(simulated.total)),
  '',
  '  wait for a slot by tenant (largest first)',
  ...[...scenario.tenants]
    .sort((a, b) => b.share - a.share)
    .slice(0, TENANTS_SHOWN)
    .map(({ name }) => line(`  ${name}`, waits(simulated.queueByTenant[name] as Waits))),
  '',
  table([
    'minute',
    'created',
    'ended',
    'waiting',
    'oldest',
    'in flight',
    'for media',
    'polls/s',
    'egress/s',
  ]),
  ...simulated.buckets.map((each) =>
    table([
      number(each.fromS / 60),
      number(each.arrivals),
      number(each.ended),
      number(each.waiting),
      seconds(each.oldestS),
      number(each.inFlight),
      number(each.mediaWaiting),
      number(each.pollsPerS),
      bytes(each.fetchBytesPerS),
    ]),
  ),
];

const TENANTS_SHOWN = 8;
const COLUMN_CHARS = 10;

const table = (cells: readonly string[]): string =>
  `  ${cells.map((cell) => cell.padStart(COLUMN_CHARS)).join('')}`;

const waits = ({ count, p50S, p95S, maxS }: Waits): string =>
  count === 0 ? 'nobody' : `p50 ${seconds(p50S)}, p95 ${seconds(p95S)}, longest ${seconds(maxS)}`;
