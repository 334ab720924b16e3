import { busCommand } from './cli/commands/bus';
import { capacityCommand } from './cli/commands/capacity';
import { doctorCommand } from './cli/commands/doctor';
import { restoredCommand } from './cli/commands/restored';
import { storageCommand } from './cli/commands/storage';
import { verifyCommand } from './cli/commands/verify';
import type { Command } from './cli/command';

const COMMANDS: readonly Command[] = [
  doctorCommand,
  busCommand,
  storageCommand,
  verifyCommand,
  capacityCommand,
  restoredCommand,
];

const USAGE = [
  'Usage: npm run cli -- <command> [options]',
  '',
  ...COMMANDS.map(({ name, says }) => `  ${name.padEnd(10)} ${says}`),
  '',
  'Each command explains itself with --help.',
].join('\n');

const main = async (): Promise<number> => {
  const [name, ...words] = process.argv.slice(2);
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  if (name === undefined || name === '--help') {
    print(USAGE);
    return name === undefined ? 2 : 0;
  }
  const command = COMMANDS.find((each) => each.name === name);
  if (command === undefined) {
    process.stderr.write(`There is no command ${name}.\n${USAGE}\n`);
    return 2;
  }
  return command.run(words, print);
};

// Set and not called: what is still being written to a pipe is written to its end.
main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  },
);
