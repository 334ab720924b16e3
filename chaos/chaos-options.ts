import { parseArgs } from 'node:util';

export const USAGE = [
  'Usage: npm run chaos -- [--tasks N] [--minutes M] [--seed S] [--cluster] [--require-all] [--keep]',
  '',
  'Runs the product in processes of its own, drives generations through GraphQL, breaks things at random, and checks every',
  'invariant after each fault and at the end. The seed repeats the plan of inputs and faults.',
  '',
  '  --tasks        generations (default 150)',
  '  --minutes      how long they and the faults come (default 2)',
  '  --seed         default 1',
  '  --cluster      over RocketMQ, Redis and S3, two of each process; breaks those servers too',
  '  --require-all  a kind of fault that cannot be made here fails the run, instead of being left out',
  '  --keep         keeps the data folder',
  '',
  'Exit code: 0 sound, 1 not sound, 2 could not run, 3 void: a branch was not reached.',
].join('\n');

export interface ChaosOptions {
  readonly tasks: number;
  readonly minutes: number;
  readonly seed: number;
  readonly cluster: boolean;
  readonly requireAll: boolean;
  readonly keep: boolean;
}

export const readChaosOptions = (words: readonly string[]): ChaosOptions | 'HELP' => {
  const { values } = parseArgs({
    args: [...words],
    options: {
      tasks: { type: 'string' },
      minutes: { type: 'string' },
      seed: { type: 'string' },
      cluster: { type: 'boolean' },
      'require-all': { type: 'boolean' },
      keep: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return 'HELP';
  return {
    tasks: positive('--tasks', values.tasks ?? '150'),
    minutes: positive('--minutes', values.minutes ?? '2'),
    seed: positive('--seed', values.seed ?? '1'),
    cluster: values.cluster ?? false,
    requireAll: values['require-all'] ?? false,
    keep: values.keep ?? false,
  };
};

const positive = (name: string, text: string): number => {
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value)) throw new Error(`${name} wants a number above 0`);
  return value;
};
