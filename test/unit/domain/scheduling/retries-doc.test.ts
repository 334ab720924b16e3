import { readFileSync } from 'node:fs';
import path from 'node:path';

import { FAILURE_POLICIES, OUTPUT_POLICIES } from '../../../../src/domain/provider/failure-policy';
import { RETRY_BUDGETS, type RetryBudget } from '../../../../src/domain/scheduling/retry-budget';

const doc = readFileSync(path.join(__dirname, '../../../../docs/retries.md'), 'utf8');

/** The rows of the table after a heading, cell by cell, without its head. */
const tableOf = (heading: string): string[][] =>
  (doc.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

const yes = (value: boolean): string => (value ? 'yes' : 'no');

const inWords = (ms: number): string => {
  if (ms < 60_000) return `${ms / 1_000} s`;
  return ms < 3_600_000 ? `${ms / 60_000} min` : `${ms / 3_600_000} h`;
};

describe('docs/retries.md', () => {
  it('has every failure of a provider with what the code does', () => {
    expect(tableOf('What a provider says').map((row) => row.slice(0, 6))).toEqual(
      Object.entries(FAILURE_POLICIES).map(([kind, policy]) => [
        `\`${kind}\``,
        yes(policy.mayRetry),
        yes(policy.tripsCircuit),
        yes(policy.shrinksLimit),
        policy.doubleCost.toLowerCase().replace('_', ' '),
        `\`${policy.publicCode}\``,
      ]),
    );
  });

  it('has every failure of a fetch with what the code does', () => {
    expect(tableOf('What happens to an output').map((row) => row.slice(0, 2))).toEqual(
      Object.entries(OUTPUT_POLICIES).map(([code, policy]) => [
        `\`${code}\``,
        policy.toLowerCase().replace('_', ' '),
      ]),
    );
  });

  it('has the budget of every step', () => {
    expect(tableOf('Budgets').map((row) => row.slice(0, 8))).toEqual(
      Object.entries(RETRY_BUDGETS).map(([step, budget]: [string, RetryBudget]) => [
        step,
        budget.triesMax.toLocaleString('en'),
        inWords(budget.waitMsMax),
        inWords(budget.backoffMsBase),
        inWords(budget.backoffMsCap),
        yes(budget.endsWithDeadline),
        yes(budget.otherProviderAllowed),
        yes(budget.needsPerson),
      ]),
    );
  });
});
