import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { projectRoot } from '../../src/runtime/project-root';
import { findMisfits } from './find-misfits';
import { judgeRun, type ScenarioRun } from './judge-run';
import { MUTANTS, type Mutant } from './mutants';

const USAGE = `Usage: npm run mutants -- [options]
  --only WORDS   only mutants whose names begin with one of these`;

const readMutants = (args: readonly string[]): readonly Mutant[] => {
  const { values } = parseArgs({
    args: [...args],
    options: { only: { type: 'string', default: '' } },
  });
  const words = values.only.split(',');
  const chosen = MUTANTS.filter(({ name }) => words.some((word) => name.startsWith(word)));
  if (chosen.length === 0) throw new Error(USAGE);
  return chosen;
};

const keyOf = ({ scenario }: Mutant): string => `${scenario.file} ${scenario.test}`;

/** Each mutant as a project of Jest, and each scenario once as it is. */
const projectsOf = (mutants: readonly Mutant[]) => {
  const plain = new Map(mutants.map((mutant) => [keyOf(mutant), mutant]));
  return [
    ...[...plain].map(([key, { scenario }]) => ({ name: key, edits: [], scenario })),
    ...mutants.map(({ name, edits, scenario }) => ({ name, edits, scenario })),
  ];
};

const runJest = (folder: string, mutants: readonly Mutant[]): Promise<ScenarioRun[]> => {
  const [run, results] = [path.join(folder, 'run.json'), path.join(folder, 'results.jsonl')];
  writeFileSync(results, '');
  writeFileSync(run, JSON.stringify({ projects: projectsOf(mutants), results }));
  const jest = spawn(
    process.execPath,
    [
      path.join(projectRoot(), 'node_modules/jest/bin/jest.js'),
      '--config',
      path.join(__dirname, 'jest.config.js'),
    ],
    {
      cwd: projectRoot(),
      env: { ...process.env, AIVEDIO_MUTANT_RUN: run },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const said: Buffer[] = [];
  jest.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  return new Promise((resolve, reject) => {
    jest.once('error', reject);
    jest.once('close', () => {
      const lines = readFileSync(results, 'utf8').trim().split('\n').filter(Boolean);
      if (lines.length === 0) reject(new Error(Buffer.concat(said).toString('utf8')));
      else resolve(lines.map((line) => JSON.parse(line) as ScenarioRun));
    });
  });
};

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const main = async (): Promise<number> => {
  const mutants = readMutants(process.argv.slice(2));
  const begunMs = Date.now();
  const misfits = findMisfits(mutants);
  for (const misfit of misfits) print(`DOES NOT FIT ${misfit}`);
  if (misfits.length > 0) return 1;
  const folder = mkdtempSync(path.join(os.tmpdir(), 'aivedio-mutants-'));
  try {
    const runs = new Map((await runJest(folder, mutants)).map((run) => [run.project, run]));
    const verdicts = mutants.map((mutant) =>
      judgeRun(mutant, runs.get(keyOf(mutant)), runs.get(mutant.name)),
    );
    for (const { name, caught, how } of verdicts) {
      print(`${caught ? 'caught  ' : 'SURVIVED'} ${name.padEnd(34)} ${how}`);
    }
    const survivors = verdicts.filter(({ caught }) => !caught).length;
    print('');
    print(
      `mutants  ${mutants.length}, caught ${mutants.length - survivors}, survived ${survivors}`,
    );
    print(`time     ${((Date.now() - begunMs) / 1000).toFixed(0)} s`);
    return survivors === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${String((error as Error).stack ?? error)}\n`);
    process.exit(1);
  },
);
