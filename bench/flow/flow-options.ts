import { parseArgs } from 'node:util';

export const CONTENDERS = ['product', 'floor', 'graphile'] as const;
export type Contender = (typeof CONTENDERS)[number];

export interface FlowOptions {
  /** Tasks of the burst, all handed over at once. */
  readonly tasks: number;
  /** Length of each open loop. */
  readonly openSeconds: number;
  /** Arrivals per second of each open loop. */
  readonly rates: readonly number[];
  /** How often everything is repeated, interleaved; the table shows medians. */
  readonly rounds: number;
  /** `grouped`: as `npm start` has them on a small machine; `each`: every worker a process of its own; `one`: all in one. */
  readonly processes: 'each' | 'grouped' | 'one';
  /** Among whom the generations are spread: each takes its tenant's account row twice, for the length of a commit. */
  readonly tenants: number;
  readonly contenders: readonly Contender[];
  readonly idleSeconds: number;
  /** Also show which statements one burst of the product runs, per task. */
  readonly showsStatements: boolean;
}

export const readFlowOptions = (args: readonly string[], usage: string): FlowOptions => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      statements: { type: 'boolean', default: false },
      short: { type: 'boolean', default: false },
      tasks: { type: 'string' },
      'open-seconds': { type: 'string' },
      'idle-seconds': { type: 'string' },
      rates: { type: 'string', default: '3,20' },
      rounds: { type: 'string' },
      tenants: { type: 'string' },
      processes: { type: 'string', default: 'grouped' },
      only: { type: 'string', default: CONTENDERS.join(',') },
    },
  });
  const number = (text: string | undefined, fallback: number, least: number): number => {
    const value = text === undefined ? fallback : Number(text);
    if (!Number.isInteger(value) || value < least)
      throw new Error(`Not a number: ${String(text)}\nUsage: ${usage}`);
    return value;
  };
  const { short, processes } = values;
  if (processes !== 'each' && processes !== 'grouped' && processes !== 'one')
    throw new Error(`Usage: ${usage}`);
  const wanted = values.only.split(',');
  return {
    tasks: number(values.tasks, short ? 200 : 2_000, 1),
    openSeconds: number(values['open-seconds'], short ? 5 : 60, 0),
    rates: values.rates.split(',').map((rate) => number(rate, 0, 1)),
    rounds: number(values.rounds, short ? 1 : 3, 0),
    processes,
    tenants: number(values.tenants, 8, 1),
    contenders: CONTENDERS.filter((each) => wanted.includes(each)),
    showsStatements: values.statements,
    idleSeconds: number(values['idle-seconds'], 10, 0),
  };
};
