import path from 'node:path';
import { parseArgs } from 'node:util';

export const USAGE = `Usage: npm run cluster -- <command> [options]

Runs the product as it runs past one machine, from local programs and without a container engine: Postgres 15, RocketMQ, Redis and
an S3 server, the sandbox provider, two APIs behind one address, and two of each worker, every one a process of its own.

  up       keeps it running and prints addresses and a key; Ctrl-C ends all of it
  demo     the main job from picture and prompt to a playable video, and what each server saw of it
  degrade  breaks one back end after the other while generations run, and checks what must hold

  --dir FOLDER   keep the data there (a scratch folder that is removed at the end)
  --only NAMES   of degrade: only these, separated by commas
  --sampled      of degrade: the short form, for continuous integration
  --list         of degrade: names the degradations

More options of demo are those of npm run demo. Exit code: 0 sound, 1 not sound, 2 could not run.`;

const COMMANDS = ['up', 'demo', 'degrade'] as const;

export interface ClusterCommand {
  readonly command: (typeof COMMANDS)[number];
  /** Null: a scratch folder. */
  readonly dir: string | null;
  readonly only: readonly string[] | null;
  readonly sampled: boolean;
  readonly list: boolean;
  /** For the demo. */
  readonly rest: readonly string[];
}

/** Throws an Error with a sentence for the person at the terminal. */
export const readClusterCommand = (words: readonly string[]): ClusterCommand | 'HELP' => {
  const [name, ...others] = words;
  if (name === undefined || words.includes('--help')) return 'HELP';
  const command = COMMANDS.find((each) => each === name);
  if (command === undefined) {
    throw new Error(`There is no command ${name}; there are ${COMMANDS.join(', ')}`);
  }
  const own = ['--dir', '--only'];
  const isOwn = (word: string | undefined, before: string | undefined): boolean =>
    word === '--sampled' ||
    word === '--list' ||
    own.some((each) => word === each || word?.startsWith(`${each}=`) === true) ||
    (before !== undefined && own.includes(before));
  const { values } = parseArgs({
    args: others.filter((word, index) => isOwn(word, others[index - 1])),
    options: {
      dir: { type: 'string' },
      only: { type: 'string' },
      sampled: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
    },
  });
  const rest = others.filter((word, index) => !isOwn(word, others[index - 1]));
  if (command !== 'demo' && rest.length > 0) {
    throw new Error(`${command} has no option ${rest.join(' ')}`);
  }
  return {
    command,
    dir: values.dir === undefined ? null : path.resolve(values.dir),
    only: values.only === undefined ? null : values.only.split(',').map((each) => each.trim()),
    sampled: values.sampled,
    list: values.list,
    rest,
  };
};
