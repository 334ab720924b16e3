import { parseArgs } from 'node:util';

import type { AfterRestore } from '../../flow/operate/after-restore';
import { tellRestored } from '../../runtime/after-restore';
import { readConfig } from '../../runtime/config';
import { UsageError, type Command } from '../command';
import { QUIET } from '../quiet-log';

const USAGE = [
  'Usage: npm run cli -- restored --since INSTANT --by WHO --reason WHY [--cancel]',
  '',
  'After a database came back from a backup, a snapshot or a standby that lacked the last commits. With the environment of the',
  'processes, before they start; once more when all has ended. See docs/operations.md, "Restoring".',
  '',
  '  --since   an instant before the one to which it was restored, as 2026-12-01T10:00:00Z',
  '  --by      who says so, for the audit log',
  '  --reason  why, for the audit log',
  '  --cancel  ask the provider to stop jobs that nobody waits for any more',
  '',
  'Exit code: 0 nothing is amiss, 1 jobs of forgotten generations (findings UNTRACKED_PROVIDER_JOB), 2 not done, or a list could',
  'not be had.',
].join('\n');

export const restoredCommand: Command = {
  name: 'restored',
  says: 'after a restore: asks the providers for what this database has forgotten',
  run: async (words, print) => {
    if (words.includes('--help')) {
      print(USAGE);
      return 0;
    }
    const done = await tellRestored(readConfig(), QUIET, readWords(words));
    if ('refused' in done) throw new UsageError(done.refused);
    for (const line of describe(done)) print(line);
    if (done.unseen.length > 0) return 2;
    return done.untracked.length > 0 ? 1 : 0;
  },
};

const readWords = (words: readonly string[]) => {
  const { values } = parse(words);
  const since = new Date(values.since ?? Number.NaN);
  if (Number.isNaN(since.getTime())) throw new UsageError(`--since wants an instant.\n${USAGE}`);
  const { by: actor = '', reason = '' } = values;
  if (actor === '') throw new UsageError(`--by wants a name.\n${USAGE}`);
  return { since, cancel: values.cancel ?? false, order: { actor, reason } };
};

const parse = (words: readonly string[]) => {
  try {
    return parseArgs({
      args: [...words],
      options: {
        since: { type: 'string' },
        by: { type: 'string' },
        reason: { type: 'string' },
        cancel: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n${USAGE}`, { cause: error });
  }
};

const describe = (done: AfterRestore): string[] => [
  `published again   ${done.republished} messages that a reader had not handled`,
  `listed            ${done.listed} jobs`,
  `awaited           ${done.awaited} of generations that wait: each is asked for before its submit`,
  `not ours          ${done.foreign}`,
  ...done.untracked.map(
    ({ jobId, status, cancel }) =>
      `UNTRACKED         ${jobId} ${status}${cancel === null ? '' : `, cancel: ${cancel}`}`,
  ),
  ...done.unseen.map(({ accountId, code }) => `NOT SEEN          account ${accountId}: ${code}`),
];
