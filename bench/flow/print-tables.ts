import type { Load } from './bench-protocol';
import type { Contender, FlowOptions } from './flow-options';
import { percentile, type Measured } from './measure-contender';

/** All rounds of one contender under one load. */
export interface Series {
  readonly contender: Contender;
  readonly load: Load;
  readonly measured: Measured[];
}

interface Row {
  readonly name: string;
  readonly of: (measured: Measured) => number | null;
  readonly digits: number;
}

const BURST_ROWS: readonly Row[] = [
  { name: 'tasks/s', of: (each) => each.tasksPerSecond, digits: 1 },
  { name: 'CPU-ms a task', of: (each) => each.cpuMs, digits: 1 },
  { name: 'CPU-ms a task, Postgres', of: (each) => each.serverCpuMs, digits: 1 },
  { name: 'commits a task', of: (each) => each.commits, digits: 1 },
  { name: 'WAL fsyncs a task', of: (each) => each.walSyncs, digits: 1 },
  { name: 'WAL kB a task', of: (each) => each.walBytes / 1_000, digits: 1 },
];

const OPEN_ROWS: readonly Row[] = [
  { name: 'p50 ms', of: (each) => each.p50Ms, digits: 1 },
  { name: 'p99 ms', of: (each) => each.p99Ms, digits: 1 },
  ...BURST_ROWS.filter(({ name }) => name !== 'tasks/s'),
];

const medianOf = (series: Series | undefined, row: Row): number | null => {
  const values = (series?.measured ?? []).map(row.of).filter((value) => value !== null);
  return values.length === 0 ? null : percentile(values, 0.5);
};

/** One table a load: medians over the rounds, and the product's ratio to the floor. */
export const printTables = (
  series: readonly Series[],
  options: FlowOptions,
  say: (line: string) => void,
): void => {
  for (const load of new Set(series.map((each) => each.load))) {
    const name =
      load.ratePerSecond === null ? `Burst of ${load.tasks}` : `Open loop, ${load.ratePerSecond}/s`;
    say(`\n${name} (median of ${options.rounds})`);
    say(`| |${options.contenders.map((each) => ` ${each} |`).join('')} product/floor |`);
    say(`|---|${options.contenders.map(() => '--:|').join('')}--:|`);
    const of = (contender: Contender) =>
      series.find((each) => each.load === load && each.contender === contender);
    for (const row of load.ratePerSecond === null ? BURST_ROWS : OPEN_ROWS) {
      const cells = options.contenders.map((each) => format(medianOf(of(each), row), row.digits));
      const product = medianOf(of('product'), row);
      const floor = medianOf(of('floor'), row);
      const ratio = product === null || floor === null ? null : product / floor;
      say(`| ${row.name} |${cells.map((cell) => ` ${cell} |`).join('')} ${format(ratio, 2)} |`);
    }
  }
};

const format = (value: number | null, digits: number): string =>
  value === null ? 'n/a' : value.toFixed(digits);
