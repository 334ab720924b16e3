import { execFileSync } from 'node:child_process';
import path from 'node:path';

const REPORTER = path.resolve(__dirname, '..', '..', 'support', 'closing-line-reporter.js');

/** Runs the reporter in a process of its own, with something printed after the summary. */
function closingLines(results: Record<string, number>): string[] {
  const none = {
    numPassedTests: 0,
    numFailedTests: 0,
    numPendingTests: 0,
    numTodoTests: 0,
    numRuntimeErrorTestSuites: 0,
  };
  const script = `
    const Reporter = require(${JSON.stringify(REPORTER)});
    new Reporter().onRunComplete(new Set(), ${JSON.stringify({ ...none, ...results })});
    console.log('a late message');`;
  const output = execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  return output.split('\n');
}

test('the last line of a run counts its tests, after everything else', () => {
  expect(closingLines({ numPassedTests: 12, numFailedTests: 1 })).toEqual([
    'a late message',
    '12 passed, 1 failed',
    '',
  ]);
});

test('skipped tests are only spoken of when there are any', () => {
  expect(closingLines({ numPassedTests: 3, numPendingTests: 2, numTodoTests: 1 })[1]).toBe(
    '3 passed, 0 failed, 3 skipped',
  );
});

test('a file that cannot be run counts as a failure', () => {
  expect(closingLines({ numRuntimeErrorTestSuites: 1 })[1]).toBe('0 passed, 1 failed');
});
