import { createToolWorkspace, type ToolWorkspace } from './support/tool-workspace';

interface Planted {
  readonly rule: string;
  readonly path: string;
  readonly text: string;
}

const PLANTED: readonly Planted[] = [
  {
    rule: '@typescript-eslint/no-floating-promises',
    path: 'src/flow/floating.ts',
    text: 'export const a = (p: Promise<void>): void => {\n  p.then(() => undefined);\n};\n',
  },
  {
    rule: '@typescript-eslint/no-misused-promises',
    path: 'src/flow/misused.ts',
    text: 'export const a = (p: Promise<boolean>): number => (p ? 1 : 2);\n',
  },
  {
    rule: '@typescript-eslint/await-thenable',
    path: 'src/flow/thenable.ts',
    text: 'export const a = async (n: number): Promise<number> => await n;\n',
  },
  {
    rule: '@typescript-eslint/return-await',
    path: 'src/flow/return-await.ts',
    text: 'export const a = async (p: Promise<number>): Promise<number> => {\n  try {\n    return p;\n  } catch {\n    return 1;\n  }\n};\n',
  },
  {
    rule: '@typescript-eslint/only-throw-error',
    path: 'src/flow/throw.ts',
    text: "export const a = (): never => {\n  throw 'text';\n};\n",
  },
  {
    rule: '@typescript-eslint/prefer-promise-reject-errors',
    path: 'src/flow/reject.ts',
    text: "export const a = (): Promise<never> => Promise.reject('text');\n",
  },
  {
    rule: '@typescript-eslint/no-base-to-string',
    path: 'src/flow/to-string.ts',
    text: 'export const a = (o: { readonly b: number }): string => `${o}`;\n',
  },
  {
    rule: '@typescript-eslint/no-unnecessary-type-assertion',
    path: 'src/flow/assertion.ts',
    text: 'export const a = (n: number): number => n as number;\n',
  },
  {
    rule: '@typescript-eslint/switch-exhaustiveness-check',
    path: 'src/domain/missing-case.ts',
    text: "export const a = (s: 'X' | 'Y'): number => {\n  switch (s) {\n    case 'X':\n      return 1;\n  }\n  return 2;\n};\n",
  },
  {
    rule: '@typescript-eslint/switch-exhaustiveness-check',
    path: 'src/domain/hidden-by-default.ts',
    text: "export const a = (s: 'X' | 'Y'): number => {\n  switch (s) {\n    case 'X':\n      return 1;\n    default:\n      return 2;\n  }\n};\n",
  },
  {
    rule: '@typescript-eslint/consistent-type-imports',
    path: 'src/flow/type-import.ts',
    text: "import { Readable } from 'node:stream';\nexport type A = Readable;\n",
  },
  {
    rule: '@typescript-eslint/no-explicit-any',
    path: 'sandbox/any.ts',
    text: 'export const a = (b: any): number => Number(b);\n',
  },
  {
    rule: '@typescript-eslint/no-non-null-assertion',
    path: 'src/domain/non-null.ts',
    text: 'export const a = (b: number | null): number => b!;\n',
  },
  {
    rule: '@typescript-eslint/ban-ts-comment',
    path: 'src/domain/comment.ts',
    text: '// @ts-ignore\nexport const a = 1;\n',
  },
  {
    rule: '@typescript-eslint/no-unused-vars',
    path: 'test/unused.ts',
    text: 'const a = 1;\nexport const b = 2;\n',
  },
  {
    rule: 'eqeqeq',
    path: 'sandbox/eq.ts',
    text: 'export const a = (b: number): boolean => b == 1;\n',
  },
  {
    rule: 'no-empty',
    path: 'src/flow/swallowed.ts',
    text: 'export const a = (b: () => void): void => {\n  try {\n    b();\n  } catch {}\n};\n',
  },
  { rule: 'no-var', path: 'scripts/old.mjs', text: 'export var a = 1;\n' },
  { rule: 'prefer-const', path: 'src/domain/let.ts', text: 'let a = 1;\nexport const b = a;\n' },
  {
    rule: 'no-unsafe-finally',
    path: 'src/flow/finally.ts',
    text: 'export const a = (b: () => void): number => {\n  try {\n    b();\n  } finally {\n    return 1;\n  }\n};\n',
  },
  {
    rule: 'no-console',
    path: 'src/flow/print.ts',
    text: "export const a = (): void => console.log('x');\n",
  },
  { rule: 'house/no-default-export', path: 'test/default.ts', text: 'export default 1;\n' },
  {
    rule: 'house/no-default-export',
    path: 'src/domain/default.ts',
    text: 'const a = 1;\nexport { a as default };\n',
  },
  { rule: 'house/no-enum', path: 'src/domain/enum.ts', text: 'export enum A {\n  B,\n}\n' },
  {
    rule: 'house/no-process-env',
    path: 'src/runtime/env.ts',
    text: 'export const a = process.env.HOME;\n',
  },
  { rule: 'house/no-process-env', path: 'src/api.ts', text: 'export const { env } = process;\n' },
  {
    rule: 'house/no-process-env',
    path: 'src/flow/env.ts',
    text: "export { a };\nimport { env } from 'node:process';\nconst a = env.HOME;\n",
  },
  {
    rule: 'house/no-ambient-time',
    path: 'src/flow/now.ts',
    text: 'export const a = Date.now();\n',
  },
  {
    rule: 'house/no-ambient-time',
    path: 'src/adapters/media/date.ts',
    text: 'export const a = new Date();\n',
  },
  {
    rule: 'house/no-ambient-randomness',
    path: 'src/runtime/jitter.ts',
    text: 'export const a = Math.random();\n',
  },
  {
    rule: 'house/no-ambient-randomness',
    path: 'src/adapters/media/id.ts',
    text: "import { randomUUID } from 'node:crypto';\nexport const a = randomUUID();\n",
  },
  {
    rule: 'house/no-focused-or-skipped-test',
    path: 'test/only.test.ts',
    text: "it.only('x', () => undefined);\n",
  },
  {
    rule: 'house/no-focused-or-skipped-test',
    path: 'test/skip.test.ts',
    text: "xdescribe('x', () => undefined);\n",
  },
  {
    rule: 'house/no-sleep',
    path: 'test/sleep.test.ts',
    text: 'export const a = new Promise((resolve) => setTimeout(resolve, 500));\n',
  },
  {
    rule: 'house/no-sleep',
    path: 'test/nap.test.ts',
    text: "import { setTimeout as nap } from 'node:timers/promises';\nexport const a = async (): Promise<void> => {\n  await nap(500);\n};\n",
  },
];

/** Code that stands close to a rule and keeps to it. */
const LEGAL: Readonly<Record<string, string>> = {
  'src/runtime/config.ts': 'export const a = process.env.HOME;\n',
  'src/adapters/clock/system-clock.ts':
    'export const a = Date.now();\nexport const b = new Date();\n',
  'src/adapters/ids/random-ids.ts':
    "import { randomBytes } from 'node:crypto';\nexport const a = randomBytes(8);\n",
  'src/resolvers/state.ts': 'export enum State {\n  A,\n}\n',
  'src/flow/given-date.ts': 'export const a = (ms: number): Date => new Date(ms);\n',
  'sandbox/clock.ts': 'export const a = Date.now();\nexport const b = process.env.PORT;\n',
  'src/domain/exhaustive.ts':
    "export const a = (s: 'X' | 'Y'): number => {\n  switch (s) {\n    case 'X':\n      return 1;\n    case 'Y':\n      return 2;\n  }\n};\n",
  'test/bound.test.ts':
    "export const a = new Promise((_resolve, reject) => setTimeout(() => reject(new Error('late')), 5000));\nexport const b = new Promise((resolve) => setTimeout(resolve, 20));\n",
};

interface LintedFile {
  readonly filePath: string;
  readonly messages: readonly { readonly ruleId: string | null; readonly message: string }[];
}

describe('lint rules', () => {
  let workspace: ToolWorkspace;
  const found = new Map<string, string[]>();

  beforeAll(() => {
    const planted = Object.fromEntries(PLANTED.map(({ path, text }) => [path, text]));
    workspace = createToolWorkspace({ ...LEGAL, ...planted });
    const output = workspace.runTool('eslint/bin/eslint.js', ['--format', 'json', '.']);
    for (const file of JSON.parse(output) as LintedFile[]) {
      const path = Object.keys({ ...LEGAL, ...planted }).find((each) =>
        file.filePath.endsWith(`/${each}`),
      );
      if (path !== undefined) {
        found.set(
          path,
          file.messages.map(({ ruleId, message }) => ruleId ?? message),
        );
      }
    }
  }, 120_000);

  afterAll(() => workspace.remove());

  test.each(PLANTED)('$rule reports $path', ({ rule, path }) => {
    expect(found.get(path)).toContain(rule);
  });

  test.each(Object.keys(LEGAL))('nothing is reported in %s', (path) => {
    expect(found.get(path)).toEqual([]);
  });

  it('has a planted violation for every rule of the configuration', () => {
    const enabled = ['src/flow/now.ts', 'test/only.test.ts', 'scripts/old.mjs'].flatMap((path) => {
      const output = workspace.runTool('eslint/bin/eslint.js', ['--print-config', path]);
      const { rules } = JSON.parse(output) as { rules: Record<string, readonly [number]> };
      return Object.keys(rules).filter((rule) => rules[rule]?.[0] === 2);
    });
    const planted = new Set(PLANTED.map(({ rule }) => rule));
    expect([...new Set(enabled)].filter((rule) => !planted.has(rule))).toEqual([]);
  }, 60_000);
});
