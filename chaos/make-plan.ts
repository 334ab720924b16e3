import { WORKERS, type WorkerName } from '../src/domain/stages';
import type { ChaosOptions } from './chaos-options';
import { FAULT_KINDS, NEEDS_CLUSTER, type FaultKind } from './fault-kinds';
import { createRandom, type Random } from './random';

export interface PlannedTask {
  readonly index: number;
  readonly atMs: number;
  /** Which of the clients asks for it; each has a tenant and key of its own. */
  readonly client: number;
  readonly providerFaults: readonly string[];
  readonly parameters: Readonly<Record<string, number>>;
  /** For whichever create comes next: a fault of its own would meet each of its attempts, and use up all of them. */
  readonly queuedFault: string | null;
  /** After the create was answered; null: never. */
  readonly cancelAfterMs: number | null;
  /** How often the create is sent, at once. */
  readonly sends: number;
  /** The same key is sent with another body afterwards. */
  readonly conflicts: boolean;
  readonly withPicture: boolean;
  readonly subscribes: boolean;
}

export interface PlannedFault {
  readonly kind: FaultKind;
  readonly atMs: number;
  readonly worker: WorkerName;
  /** Between 0 and 1: for whatever else the fault has to choose. */
  readonly dice: number;
}

export interface Plan {
  readonly tasks: readonly PlannedTask[];
  readonly faults: readonly PlannedFault[];
}

export const CLIENTS = 6;
/** The first fault finds work under way, and after the last the load goes on for a moment. */
const QUIET_MS = 5_000;
const FAULT_EVERY_MS = 7_000;

/** Provider faults by weight. Those of cancels hold the job until it is cancelled. */
const PROVIDER_FAULTS: readonly (readonly [
  weight: number,
  faults: readonly string[],
  cancels?: true,
])[] = [
  [43, []],
  [6, ['answer_lost']],
  [3, ['answer_502']],
  [2, ['answer_cut']],
  [2, ['answer_no_id']],
  [5, ['callback_before_answer']],
  [4, ['callback_twice']],
  [3, ['callback_out_of_order']],
  [5, ['callback_never']],
  [2, ['failed']],
  [3, ['failed_charged']],
  [2, ['filtered']],
  [2, ['failed_late']],
  [2, ['download_cut']],
  [2, ['url_expired']],
  [2, ['poll_404', 'callback_never']],
  [2, ['overcharge']],
  [1, ['reject_422_charged']],
  [4, ['hang'], true],
  [2, ['cancel_refused'], true],
  [2, ['cancel_slow'], true],
  [2, ['cancel_completes'], true],
  [2, ['cancel_charged'], true],
];

const QUEUED_FAULTS = ['not_created_lost', 'not_created_lost', 'reject_429', 'reject_500'] as const;

export const makePlan = (options: ChaosOptions): Plan => {
  const random = createRandom(options.seed);
  const lengthMs = options.minutes * 60_000;
  return {
    tasks: Array.from({ length: options.tasks }, (_, index) =>
      planTask(random, index, (lengthMs * index) / options.tasks),
    ),
    faults: planFaults(random, lengthMs, options.cluster),
  };
};

const planTask = (random: Random, index: number, atMs: number): PlannedTask => {
  const [, providerFaults, cancels] = pickWeighted(random);
  const soon = random.below(4_000);
  const canceled = cancels === true || random.chance(0.08);
  return {
    index,
    atMs: Math.floor(atMs),
    client: random.below(CLIENTS),
    providerFaults,
    queuedFault: random.chance(0.08) ? random.pick(QUEUED_FAULTS) : null,
    parameters: { cancel_ms: 1_500, slow_ms: 2_000, times: 2 },
    cancelAfterMs: canceled ? (cancels === true ? 500 + soon : soon) : null,
    sends: random.chance(0.15) ? 2 + random.below(3) : 1,
    conflicts: random.chance(0.06),
    withPicture: random.chance(0.03),
    subscribes: random.chance(0.2),
  };
};

const pickWeighted = (random: Random): (typeof PROVIDER_FAULTS)[number] => {
  let left = random.below(PROVIDER_FAULTS.reduce((sum, [weight]) => sum + weight, 0));
  for (const each of PROVIDER_FAULTS) {
    left -= each[0];
    if (left < 0) return each;
  }
  throw new RangeError('The weights do not add up');
};

/** Every kind once, in an order of the seed's; then again, as long as there is time. */
const planFaults = (random: Random, lengthMs: number, cluster: boolean): PlannedFault[] => {
  const kinds = (Object.keys(FAULT_KINDS) as FaultKind[]).filter(
    (kind) => cluster || !NEEDS_CLUSTER.includes(kind),
  );
  const room = Math.max(Math.floor((lengthMs - 2 * QUIET_MS) / FAULT_EVERY_MS), kinds.length);
  const deck: FaultKind[] = [];
  while (deck.length < room) deck.push(...random.shuffle(kinds));
  const faults = deck.slice(0, room);
  const everyMs = (lengthMs - 2 * QUIET_MS) / faults.length;
  return faults.map((kind, index) => ({
    kind,
    atMs: Math.floor(QUIET_MS + everyMs * index),
    worker: random.pick(WORKERS),
    dice: random.next(),
  }));
};
