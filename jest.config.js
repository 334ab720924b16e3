const { readFileSync } = require('node:fs');
const path = require('node:path');

const swcOptions = JSON.parse(readFileSync(path.join(__dirname, '.swcrc'), 'utf8'));

/** Packages that are ES modules only, or use `import()`: Jest runs CommonJS, so these are compiled as our own code. */
const ES_MODULE_PACKAGES = [
  '@borewit/text-codec',
  '@opentelemetry/otlp-exporter-base',
  '@prisma/schema-engine-wasm',
  '@tokenizer/inflate',
  'file-type',
  'strtok3',
  'token-types',
  'uint8array-extras',
];

const shared = {
  rootDir: __dirname,
  testEnvironment: 'node',
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  transform: {
    // `import()` becomes `require()`: without a flag of Node's, Jest cannot load real ES modules.
    '^.+\\.(ts|js|mjs)$': [
      '@swc/jest',
      { ...swcOptions, swcrc: false, module: { ...swcOptions.module, ignoreDynamic: false } },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${ES_MODULE_PACKAGES.join('|')})/)`],
  moduleNameMapper: {
    // The main entry of this one has no condition under which CommonJS finds it.
    '^file-type$': 'file-type/node',
    // The generated Prisma client is TypeScript that imports its parts as .js.
    '^(\\.{1,2}/.+)\\.js$': ['$1.js', '$1.ts'],
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/data/', '<rootDir>/output/'],
  restoreMocks: true,
};

module.exports = {
  maxWorkers: 2,
  // A bound against hanging, not a measure of speed: the machine may be busy. Jest does not read it from a project.
  testTimeout: 60_000,
  reporters: ['default', '<rootDir>/test/support/closing-line-reporter.js'],
  projects: [
    {
      ...shared,
      displayName: 'pure',
      testMatch: ['<rootDir>/test/{unit,architecture}/**/*.test.ts'],
    },
    {
      ...shared,
      displayName: 'integration',
      testMatch: ['<rootDir>/test/{flow,contract,integration,crash,drills,e2e}/**/*.test.ts'],
      globalSetup: '<rootDir>/test/support/global-setup.ts',
      globalTeardown: '<rootDir>/test/support/global-teardown.ts',
    },
  ],
};
