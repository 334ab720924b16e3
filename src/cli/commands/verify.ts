import { parseArgs } from 'node:util';

import { CHECKS, type Sight } from '../../flow/verify/check-list';
import type { VerifyReport } from '../../flow/verify/verify-facts';
import { readConfig } from '../../runtime/config';
import { CannotLookError } from '../../runtime/reach-database';
import { verifyStored } from '../../runtime/verify';
import { UsageError, type Command } from '../command';
import { QUIET } from '../quiet-log';

const USAGE = [
  'Usage: npm run cli -- verify [--only name,name] [--settle-seconds N] [--canary WORD] [--deep] [--json] [--list]',
  '',
  'Asks every invariant of the stored facts: database, slots, provider log, object store and logs. Reads only;',
  'the product may run meanwhile. Looks at AIVEDIO_DATABASE_URL, else at the data folder AIVEDIO_DATA_DIR.',
  '',
  '  --only            these invariants and no others',
  '  --settle-seconds  what is younger may still be under way (default 60)',
  '  --canary          a word of prompts that must stand in no log and no message; may be repeated',
  '  --deep            read all stored bytes for their checksums too, and say on standard error how far that is',
  '  --json            one JSON document instead of lines',
  '  --list            the invariants, and what each says',
  '',
  'Exit code: 0 sound, 1 violations, 2 could not look.',
].join('\n');

interface Wanted {
  readonly only: readonly string[] | null;
  readonly settleMs: number;
  readonly canaries: readonly string[];
  readonly deep: boolean;
  readonly json: boolean;
}

export const verifyCommand: Command = {
  name: 'verify',
  says: 'asks every invariant of the stored facts',
  run: async (words, print) => {
    if (words.includes('--help')) {
      print(USAGE);
      return 0;
    }
    if (words.includes('--list')) {
      for (const { name, says } of CHECKS) print(`${name.padEnd(26)} ${says}`);
      return 0;
    }
    const wanted = readWords(words);
    const strays: string[] = [];
    try {
      const report = await verifyStored({
        config: readConfig(),
        log: QUIET,
        settleMs: wanted.settleMs,
        only: wanted.only,
        canaries: wanted.canaries,
        onBytes: wanted.deep ? tellProgress : null,
        onStray: (path) => strays.push(path),
      });
      for (const line of wanted.json ? [toJson(report, strays)] : describe(report, strays))
        print(line);
      return report.violations.length === 0 ? 0 : 1;
    } catch (error) {
      if (!(error instanceof CannotLookError)) throw error;
      print(wanted.json ? JSON.stringify({ error: error.message }) : error.message);
      return 2;
    }
  },
};

const readWords = (words: readonly string[]): Wanted => {
  const { values } = parse(words);
  const only = values.only === undefined ? null : values.only.split(',').map((each) => each.trim());
  const unknown = (only ?? []).filter((name) => !CHECKS.some((check) => check.name === name));
  if (unknown.length > 0) {
    throw new UsageError(`There is no invariant ${unknown.join(', ')}; --list shows them all`);
  }
  const seconds = Number(values['settle-seconds'] ?? 60);
  if (!Number.isFinite(seconds) || seconds < 0) {
    throw new UsageError('--settle-seconds wants a number of seconds');
  }
  return {
    only,
    settleMs: seconds * 1_000,
    canaries: values.canary ?? [],
    deep: values.deep ?? false,
    json: values.json ?? false,
  };
};

const parse = (words: readonly string[]) => {
  try {
    return parseArgs({
      args: [...words],
      options: {
        only: { type: 'string' },
        'settle-seconds': { type: 'string' },
        canary: { type: 'string', multiple: true },
        deep: { type: 'boolean' },
        json: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n${USAGE}`, { cause: error });
  }
};

/** Beside the answer, which may be read by a program. */
const tellProgress = ({ objects, bytes }: { objects: number; bytes: number }): void => {
  process.stderr.write(`checksums  ${objects} objects, ${Math.round(bytes / 2 ** 20)} MiB\n`);
};

const toJson = (report: VerifyReport, strays: readonly string[]): string =>
  JSON.stringify(
    {
      checked: report.checked.map(({ name }) => name),
      unseen: report.unseen.map(({ name, needs }) => ({ name, needs })),
      rows: report.rows,
      strays,
      violations: report.violations,
    },
    null,
    2,
  );

const whyUnseen = (needs: Sight): string => {
  if (needs === 'object bytes') return 'asked with --deep only';
  return needs === 'slots' ? 'Redis cannot be reached' : `there is no ${needs} here`;
};

const describe = (report: VerifyReport, strays: readonly string[]): string[] => {
  const counts = new Map<string, number>();
  for (const { invariant } of report.violations) {
    counts.set(invariant, (counts.get(invariant) ?? 0) + 1);
  }
  return [
    ...report.checked.map(({ name, says }) => {
      const count = counts.get(name) ?? 0;
      return `${count === 0 ? 'sound ' : 'BROKEN'}  ${name.padEnd(26)} ${says}`;
    }),
    ...report.unseen.map(({ name, needs }) => `unseen  ${name.padEnd(26)} ${whyUnseen(needs)}`),
    '',
    ...strays.map((path) => `stray      ${path}: no object of ours lies there; looked past`),
    ...report.violations.map(
      ({ invariant, subject, detail }) => `violation  ${invariant}  ${subject}: ${detail}`,
    ),
    `invariants checked  ${report.checked.length}`,
    `rows looked at      ${report.rows}`,
    `violations          ${report.violations.length}`,
  ];
};
