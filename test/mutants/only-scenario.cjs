/** A Node environment in which only the tests of one scenario run. */
'use strict';

const { TestEnvironment } = require('jest-environment-node');

const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

module.exports = class OnlyScenario extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.scenario = config.projectConfig.testEnvironmentOptions.scenario;
  }

  handleTestEvent(event, state) {
    if (event.name === 'run_start') state.testNamePattern = new RegExp(escape(this.scenario));
  }
};
