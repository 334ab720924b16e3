const { writeSync } = require('node:fs');

const STANDARD_OUTPUT = 1;

/**
 * Prints `N passed, N failed` (and `, N skipped` when there are any) as the last line of the run,
 * alone on its line. It is written when the process exits, because Jest itself and the global
 * teardown may still speak after the summary. A test file that cannot be run counts as one failure.
 */
class ClosingLineReporter {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const line =
      `${results.numPassedTests} passed, ${failed} failed` +
      (skipped > 0 ? `, ${skipped} skipped` : '');
    process.once('exit', () => writeSync(STANDARD_OUTPUT, `${line}\n`));
  }
}

module.exports = ClosingLineReporter;
