import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { houseRules } from './scripts/lint/house-rules.mjs';

/** What tsconfig.json includes; any other TypeScript (a tool's configuration) is only parsed. */
const TYPED = [
  'src/**/*.ts',
  'sandbox/**/*.ts',
  'test/**/*.ts',
  'bench/**/*.ts',
  'chaos/**/*.ts',
  'cluster/**/*.ts',
  'scripts/**/*.ts',
];

/** Rules that read types: chosen for the faults that reach production, not for taste. */
const typeChecked = {
  files: TYPED,
  languageOptions: {
    parser: tseslint.parser,
    parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname },
  },
  plugins: { '@typescript-eslint': tseslint.plugin, house: houseRules },
  rules: {
    '@typescript-eslint/no-floating-promises': 'error',
    '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
    '@typescript-eslint/await-thenable': 'error',
    '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
    '@typescript-eslint/only-throw-error': 'error',
    '@typescript-eslint/prefer-promise-reject-errors': 'error',
    '@typescript-eslint/no-base-to-string': 'error',
    '@typescript-eslint/no-unnecessary-type-assertion': 'error',
    // A default hides no member of a union: it stands behind all of them, to assert never.
    '@typescript-eslint/switch-exhaustiveness-check': [
      'error',
      { considerDefaultExhaustiveForUnions: false },
    ],
    '@typescript-eslint/consistent-type-imports': [
      'error',
      { prefer: 'type-imports', fixStyle: 'inline-type-imports', disallowTypeAnnotations: false },
    ],
    '@typescript-eslint/no-explicit-any': 'error',
    '@typescript-eslint/no-non-null-assertion': 'error',
    '@typescript-eslint/ban-ts-comment': ['error', { minimumDescriptionLength: 10 }],
    '@typescript-eslint/no-unused-vars': [
      'error',
      { argsIgnorePattern: '^_', caughtErrors: 'none', ignoreRestSiblings: true },
    ],
    eqeqeq: ['error', 'always', { null: 'ignore' }],
    'no-empty': 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'no-unsafe-finally': 'error',
    'house/no-default-export': 'error',
    'house/no-enum': 'error',
  },
};

const parsedOnly = { files: ['**/*.ts'], languageOptions: { parser: tseslint.parser } };

const product = {
  files: ['src/**/*.ts'],
  rules: {
    'house/no-process-env': 'error',
    'house/no-ambient-time': 'error',
    'house/no-ambient-randomness': 'error',
  },
};

const exemptions = [
  { files: ['src/runtime/config.ts'], rules: { 'house/no-process-env': 'off' } },
  // Jest finds these two by their default export.
  { files: ['test/support/global-*.ts'], rules: { 'house/no-default-export': 'off' } },
  { files: ['src/resolvers/**/*.ts'], rules: { 'house/no-enum': 'off' } },
  { files: ['src/adapters/clock/**/*.ts'], rules: { 'house/no-ambient-time': 'off' } },
  {
    // The password and the folder of the bundled server are made before there is a container.
    files: ['src/adapters/ids/**/*.ts', 'src/adapters/postgres/embedded/**/*.ts'],
    rules: { 'house/no-ambient-randomness': 'off' },
  },
];

const innerLayersAreSilent = {
  files: ['src/{domain,ports,flow,adapters,resolvers}/**/*.ts'],
  rules: { 'no-console': 'error' },
};

const tests = {
  files: ['test/**/*.ts'],
  rules: {
    'house/no-focused-or-skipped-test': 'error',
    'house/no-sleep': ['error', { pollMsMax: 50 }],
    '@typescript-eslint/no-non-null-assertion': 'off',
  },
};

const testSupport = {
  files: ['test/support/**/*.ts'],
  rules: { 'house/no-focused-or-skipped-test': 'off' },
};

const plainJavaScript = {
  files: ['**/*.mjs', '**/*.cjs', '**/*.js'],
  rules: {
    eqeqeq: ['error', 'always', { null: 'ignore' }],
    'no-var': 'error',
    'prefer-const': 'error',
  },
};

// ESLint reads its configuration from the default export; this file is the one place for it.
export default defineConfig(
  {
    ignores: [
      'node_modules/',
      'dist/',
      'coverage/',
      'data/',
      'output/',
      'sdk/generated/',
      'src/generated/',
      'src/adapters/postgres/generated/',
      'web/',
    ],
  },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  parsedOnly,
  typeChecked,
  product,
  innerLayersAreSilent,
  ...exemptions,
  tests,
  testSupport,
  plainJavaScript,
);
