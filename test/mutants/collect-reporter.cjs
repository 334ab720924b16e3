/** Writes what each project's scenario came to, one JSON line each. */
'use strict';

const { appendFileSync } = require('node:fs');

const plain = (text) => text.replace(/\u001b\[[0-9;]*m/g, '');

module.exports = class CollectReporter {
  constructor(_globalConfig, { file }) {
    this.file = file;
  }

  onTestResult(test, result) {
    const line = {
      project: test.context.config.displayName.name,
      crash: result.testExecError ? plain(String(result.testExecError.message)) : null,
      tests: result.testResults
        .filter(({ status }) => status === 'passed' || status === 'failed')
        .map(({ fullName, status, failureMessages }) => ({
          fullName,
          status,
          failures: failureMessages.map(plain),
        })),
    };
    appendFileSync(this.file, `${JSON.stringify(line)}\n`);
  }
};
