/**
 * Writes the tables of the source into ARCHITECTURE.md, between `<!-- chart:NAME:begin -->` and `<!-- chart:NAME:end -->`.
 * With --check it writes nothing and fails when the page is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { writeStageTable } from './charts/stage-table';
import {
  writeAttemptChart,
  writePairTable,
  writeTaskChart,
  writeTaskTable,
} from './charts/state-charts';

const PAGE = join(__dirname, '..', 'ARCHITECTURE.md');

const CHARTS: Readonly<Record<string, () => string>> = {
  stages: writeStageTable,
  task: writeTaskChart,
  'task-table': writeTaskTable,
  attempt: writeAttemptChart,
  pairs: writePairTable,
};

const replaceChart = (text: string, name: string, chart: string): string => {
  const begin = `<!-- chart:${name}:begin -->`;
  const end = `<!-- chart:${name}:end -->`;
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from === -1 || to < from) throw new Error(`ARCHITECTURE.md lacks ${begin} … ${end}`);
  return `${text.slice(0, from)}${begin}\n\n${chart}\n\n${text.slice(to)}`;
};

const generateCharts = async (isCheck: boolean): Promise<void> => {
  const present = readFileSync(PAGE, 'utf8');
  const written = Object.entries(CHARTS).reduce(
    (text, [name, write]) => replaceChart(text, name, write()),
    present,
  );
  const fresh = await format(written, { ...(await resolveConfig(PAGE)), filepath: PAGE });
  if (fresh === present) return;
  if (isCheck) {
    console.error('The charts in ARCHITECTURE.md are stale. Run: npm run charts');
    process.exitCode = 1;
    return;
  }
  writeFileSync(PAGE, fresh);
};

void generateCharts(process.argv.includes('--check'));
