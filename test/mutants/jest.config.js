const { readFileSync } = require('node:fs');
const path = require('node:path');

const house = require('../../jest.config');

const [, integration] = house.projects;
const [[pattern, [, swcOptions]]] = Object.entries(integration.transform);

/** Made by run-mutants.ts: a project for each mutant, and one for each scenario as it is. */
const { projects, results } = JSON.parse(readFileSync(process.env.AIVEDIO_MUTANT_RUN, 'utf8'));

module.exports = {
  maxWorkers: 2,
  testTimeout: integration.testTimeout,
  reporters: [[path.join(__dirname, 'collect-reporter.cjs'), { file: results }]],
  projects: projects.map(({ name, edits, scenario }) => ({
    ...integration,
    displayName: name,
    roots: ['src', 'test', 'sandbox', 'scripts'].map((folder) => `<rootDir>/${folder}`),
    testMatch: [`<rootDir>/${scenario.file}`],
    testEnvironment: path.join(__dirname, 'only-scenario.cjs'),
    testEnvironmentOptions: { scenario: scenario.test },
    transform: { [pattern]: [path.join(__dirname, 'mutate.cjs'), { swcOptions, edits }] },
  })),
};
