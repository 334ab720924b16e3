import { parseArgs } from 'node:util';

import type { Load } from '../../../domain/capacity/plan-capacity';
import type { Scenario, SimulatedTenant, Span } from '../../../domain/capacity/scenario';
import type { MeasuredLoad } from '../../../ports/load-reads';
import { UsageError } from '../../command';

/** Every figure that can be given, with its default: three generations a second of three minutes each. */
const FIGURES = {
  rate: { standard: 3, says: 'generations created a second, in the busiest hour' },
  held: { standard: 180, says: 'seconds that a submit keeps its slot' },
  slots: { standard: 720, says: 'jobs that all provider accounts take at once' },
  utilization: { standard: 0.75, says: 'part of the slots that shall be busy, 0 to 1' },
  success: { standard: 0.9, says: 'part of submits that end in an output, 0 to 1' },
  'output-mb': { standard: 60, says: 'megabytes of an output' },
  'media-seconds': { standard: 45, says: 'seconds that a media worker takes for an output' },
  'media-workers': { standard: 162, says: 'media jobs that run at once' },
  'poll-seconds': { standard: 10, says: 'seconds between two status queries for one job' },
  'polls-max': { standard: 50, says: 'status queries a second that the providers allow' },
  writes: { standard: 14, says: 'transitions of one generation' },
  subscriptions: { standard: 100_000, says: 'open subscriptions' },
  'subscription-kb': { standard: 20, says: 'kilobytes that one takes' },
  times: { standard: 1, says: 'this many times the rate, slots, media workers and subscriptions' },
  hours: { standard: 1, says: 'simulated hours' },
  tenants: { standard: 8, says: 'simulated tenants' },
  skew: {
    standard: 1,
    says: 'how uneven they are: 0 all alike, 1 the second half as much as the first',
  },
  'tenant-max': { standard: 1_000_000, says: 'jobs in flight that one tenant may have' },
  providers: { standard: 1, says: 'simulated providers, who share demand and slots' },
  spread: {
    standard: 0.5,
    says: 'how durations spread: 0 all alike, 0.5 one in twenty takes twice the mean',
  },
  failures: { standard: 0.1, says: 'part of submits that fail and are tried again, 0 to 1' },
  tries: { standard: 3, says: 'submits of one generation, at most' },
  unknown: { standard: 0.001, says: 'part of submits whose answer is lost, 0 to 1' },
  'unknown-seconds': { standard: 300, says: 'seconds until such a submit is decided' },
  callbacks: { standard: 0.98, says: 'part of ends that a callback tells, 0 to 1' },
  'deadline-minutes': { standard: 30, says: 'minutes after which what still waits expires' },
  'window-minutes': { standard: 60, says: 'minutes that --live looks back' },
  seed: { standard: 1, says: 'the same seed simulates the same' },
} as const satisfies Record<string, { readonly standard: number; readonly says: string }>;

type Figure = keyof typeof FIGURES;

export const CAPACITY_USAGE = [
  'Usage: npm run cli -- capacity [--live] [--simulate] [--json] [--FIGURE N ...]',
  '',
  'What a load needs: slots, stable throughput, growth of the queue, polling, egress, media workers, writes, sockets.',
  '',
  '  --live       figures that are not given come from the facts of the last hour (AIVEDIO_DATABASE_URL, else the data folder)',
  '  --simulate   arrivals, tenants, providers and failures as discrete events: how old the queue gets',
  '  --outage N@FROM+FOR   simulated provider N (1, 2, …) takes no submit from minute FROM for so many minutes; may be repeated',
  '  --burst X@FROM+FOR    arrivals come X times as fast; may be repeated',
  '  --json       one JSON document instead of lines',
  '',
  ...Object.entries(FIGURES).map(
    ([name, { standard, says }]) => `  --${name.padEnd(17)} ${says} (default ${standard})`,
  ),
].join('\n');

export interface CapacityWords {
  readonly live: boolean;
  readonly simulate: boolean;
  readonly json: boolean;
  readonly given: Readonly<Partial<Record<Figure, number>>>;
  readonly windowS: number;
  readonly seed: number;
  readonly outages: readonly (Span & { readonly which: number })[];
  readonly bursts: readonly (Span & { readonly which: number })[];
}

/** Throws a UsageError that says what can be given. */
export const readCapacityWords = (words: readonly string[]): CapacityWords => {
  const values = parse(words);
  const given: Partial<Record<Figure, number>> = {};
  for (const name of Object.keys(FIGURES) as Figure[]) {
    const text = values[name];
    if (typeof text !== 'string') continue;
    const value = Number(text);
    if (text.trim() === '' || !Number.isFinite(value) || value < 0) {
      throw new UsageError(`--${name} wants a number that is not negative, not "${text}"`);
    }
    given[name] = value;
  }
  return {
    live: values['live'] === true,
    simulate: values['simulate'] === true,
    json: values['json'] === true,
    given,
    windowS: (given['window-minutes'] ?? FIGURES['window-minutes'].standard) * 60,
    seed: given.seed ?? FIGURES.seed.standard,
    outages: spansOf('outage', values['outage']),
    bursts: spansOf('burst', values['burst']),
  };
};

const parse = (words: readonly string[]): Record<string, unknown> => {
  try {
    const figures = Object.keys(FIGURES).map((name) => [name, { type: 'string' }] as const);
    return parseArgs({
      args: [...words],
      options: {
        ...Object.fromEntries(figures),
        live: { type: 'boolean' },
        simulate: { type: 'boolean' },
        json: { type: 'boolean' },
        outage: { type: 'string', multiple: true },
        burst: { type: 'string', multiple: true },
      },
    }).values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n${CAPACITY_USAGE}`, { cause: error });
  }
};

const spansOf = (name: string, texts: unknown): (Span & { readonly which: number })[] =>
  (Array.isArray(texts) ? (texts as string[]) : []).map((text) => {
    const match = /^(\d+(?:\.\d+)?)@(\d+(?:\.\d+)?)\+(\d+(?:\.\d+)?)$/.exec(text);
    if (match === null) {
      throw new UsageError(`--${name} wants NUMBER@FROM+FOR in minutes, as 1@20+10, not "${text}"`);
    }
    const [which, from, during] = match.slice(1).map(Number) as [number, number, number];
    return { which, fromS: from * 60, forS: during * 60 };
  });

/** Given figures first, then measured ones, then the defaults. */
const figureOf =
  ({ given, windowS }: CapacityWords, measured: MeasuredLoad | null) =>
  (name: Figure): number => {
    const live: Partial<Record<Figure, number | null>> =
      measured === null
        ? {}
        : {
            rate: measured.created === 0 ? null : measured.created / windowS,
            held: measured.heldS,
            slots: measured.slots === 0 ? null : measured.slots,
            success: measured.successShare,
            failures: measured.successShare === null ? null : 1 - measured.successShare,
            'output-mb': measured.outputSizeBytes === null ? null : measured.outputSizeBytes / 1e6,
            'media-seconds': measured.mediaS,
            writes: measured.created === 0 ? null : measured.transitions / measured.created,
          };
    return given[name] ?? live[name] ?? FIGURES[name].standard;
  };

export const loadOf = (words: CapacityWords, measured: MeasuredLoad | null): Load => {
  const figure = figureOf(words, measured);
  const times = figure('times');
  return {
    ratePerS: figure('rate') * times,
    heldS: figure('held'),
    slots: Math.round(figure('slots') * times),
    utilization: figure('utilization'),
    successShare: figure('success'),
    outputSizeBytes: figure('output-mb') * 1e6,
    mediaS: figure('media-seconds'),
    mediaWorkers: Math.round(figure('media-workers') * times),
    pollIntervalS: figure('poll-seconds'),
    pollsPerSMax: figure('polls-max'),
    writesPerTask: figure('writes'),
    subscriptions: figure('subscriptions') * times,
    subscriptionSizeBytes: figure('subscription-kb') * 1_000,
  };
};

export const scenarioOf = (
  words: CapacityWords,
  load: Load,
  measured: MeasuredLoad | null,
): Scenario => {
  const figure = figureOf(words, measured);
  const providers = Math.max(1, Math.round(figure('providers')));
  const wrong = words.outages.find(({ which }) => which < 1 || which > providers);
  if (wrong !== undefined) {
    throw new UsageError(`--outage names provider ${wrong.which}, and there are ${providers}`);
  }
  return {
    durationS: figure('hours') * 3_600,
    ratePerS: load.ratePerS,
    bursts: words.bursts.map(({ which, ...span }) => ({ ...span, factor: which })),
    tenants: tenantsOf(words, figure, measured),
    providers: Array.from({ length: providers }, (_, index) => ({
      name: `provider ${index + 1}`,
      share: 1,
      slots: Math.floor(load.slots / providers),
      meanS: load.heldS,
      spread: figure('spread'),
      failureShare: figure('failures'),
      unknownShare: figure('unknown'),
      outages: words.outages.filter(({ which }) => which === index + 1),
    })),
    platformMax: load.slots,
    triesMax: figure('tries'),
    retryAfterS: 10,
    deadlineS: figure('deadline-minutes') * 60,
    unknownS: figure('unknown-seconds'),
    callbackShare: figure('callbacks'),
    pollIntervalS: load.pollIntervalS,
    outputSizeBytes: load.outputSizeBytes,
    mediaWorkers: load.mediaWorkers,
    mediaS: load.mediaS,
  };
};

/** The measured ones when nobody asks for others, else as many as asked, the first the largest. */
const tenantsOf = (
  { given }: CapacityWords,
  figure: (name: Figure) => number,
  measured: MeasuredLoad | null,
): SimulatedTenant[] => {
  if (measured !== null && measured.tenants.length > 0 && given.tenants === undefined) {
    return measured.tenants.map((each) => ({ ...each, priority: 0 }));
  }
  return Array.from({ length: Math.round(figure('tenants')) }, (_, index) => ({
    name: `tenant ${index + 1}`,
    share: 1 / (index + 1) ** figure('skew'),
    inFlightMax: figure('tenant-max'),
    priority: 0,
  }));
};
