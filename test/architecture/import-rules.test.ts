import { createToolWorkspace, type ToolWorkspace } from './support/tool-workspace';

interface Planted {
  readonly rule: string;
  readonly from: string;
  readonly text: string;
}

const value = (target: string): string => `import { x } from '${target}';\nexport const y = x;\n`;
const type = (target: string): string =>
  `import type { X } from '${target}';\nexport type Y = X;\n`;

/** One violation of each rule; the file it stands in names it. */
const PLANTED: readonly Planted[] = [
  { rule: 'domain-imports-domain-only', from: 'src/domain/a.ts', text: type('../ports/target') },
  { rule: 'domain-imports-domain-only', from: 'src/domain/b.ts', text: value('node:crypto') },
  { rule: 'domain-imports-domain-only', from: 'src/domain/c.ts', text: value('zod') },
  { rule: 'ports-import-domain-only', from: 'src/ports/a.ts', text: value('../flow/target') },
  { rule: 'ports-import-domain-only', from: 'src/ports/b.ts', text: value('node:fs') },
  {
    rule: 'flow-imports-domain-and-ports',
    from: 'src/flow/a.ts',
    text: type('../adapters/postgres/target'),
  },
  { rule: 'flow-imports-domain-and-ports', from: 'src/flow/b.ts', text: value('undici') },
  {
    rule: 'adapters-import-domain-and-ports',
    from: 'src/adapters/media/a.ts',
    text: value('../../flow/target'),
  },
  {
    rule: 'adapter-folders-are-strangers',
    from: 'src/adapters/media/b.ts',
    text: type('../postgres/target'),
  },
  {
    rule: 'provider-vendors-are-strangers',
    from: 'src/adapters/provider/one/a.ts',
    text: value('../two/target'),
  },
  {
    rule: 'provider-vendors-are-strangers',
    from: 'src/adapters/provider/http/a.ts',
    text: value('../two/target'),
  },
  {
    rule: 'resolvers-are-thin',
    from: 'src/resolvers/a.ts',
    text: value('../adapters/postgres/target'),
  },
  {
    rule: 'workers-are-lists',
    from: 'src/workers/poller/a.ts',
    text: value('../../adapters/postgres/target'),
  },
  {
    rule: 'workers-are-lists',
    from: 'src/workers/poller/b.ts',
    text: value('../../resolvers/target'),
  },
  {
    rule: 'worker-folders-are-strangers',
    from: 'src/workers/poller/c.ts',
    text: value('../reducer/target'),
  },
  {
    rule: 'commands-are-thin',
    from: 'src/cli/commands/a.ts',
    text: value('../../adapters/postgres/target'),
  },
  {
    rule: 'runtime-knows-no-entrypoint',
    from: 'src/runtime/a.ts',
    text: value('../workers/reducer/target'),
  },
  { rule: 'entrypoints-are-not-imported', from: 'src/runtime/b.ts', text: value('../api') },
  {
    rule: 'worker-never-loads-graphql',
    from: 'src/workers/poller/d.ts',
    text: value('../../runtime/leak'),
  },
  { rule: 'sandbox-is-a-stranger', from: 'sandbox/a.ts', text: value('../src/domain/target') },
  {
    rule: 'product-imports-product-only',
    from: 'src/flow/c.ts',
    text: value('../../sandbox/target'),
  },
  {
    rule: 'prisma-stays-in-postgres',
    from: 'src/adapters/redis/a.ts',
    text: type('@prisma/client'),
  },
  {
    rule: 'generated-client-stays-in-postgres',
    from: 'src/runtime/c.ts',
    text: type('../adapters/postgres/generated/client'),
  },
  { rule: 'pg-stays-in-adapters', from: 'src/runtime/d.ts', text: type('pg') },
  { rule: 'ffmpeg-stays-in-media', from: 'src/adapters/redis/b.ts', text: value('fluent-ffmpeg') },
  { rule: 'uuidv7-stays-in-ids', from: 'src/runtime/e.ts', text: value('uuidv7') },
  { rule: 'no-cycles', from: 'src/domain/circle-one.ts', text: value('./circle-two') },
  { rule: 'no-unresolvable', from: 'src/domain/d.ts', text: value('./missing') },
  { rule: 'no-dev-dependency-in-product', from: 'src/runtime/f.ts', text: value('fast-check') },
];

/** What the planted files point at, and one legal import for each layer. */
const LEGAL: Readonly<Record<string, string>> = {
  'src/domain/target.ts': 'export const x = 1;\nexport type X = number;\n',
  'src/domain/circle-two.ts': value('./circle-one').replace('const y', 'const x = 2, y'),
  'src/ports/target.ts': `${type('../domain/target').replace('type Y', 'type X')}export type { Readable } from 'node:stream';\n`,
  'src/flow/target.ts': `import { createHash } from 'node:crypto';\nexport const x = createHash;\n`,
  'src/adapters/postgres/target.ts': `export { Pool as x } from 'pg';\nexport type { X } from './generated/client';\n`,
  'src/adapters/postgres/generated/client.ts': 'export type X = number;\n',
  'src/adapters/media/target.ts': value('fluent-ffmpeg'),
  'src/adapters/provider/http/shared.ts': 'export const x = 1;\n',
  'src/adapters/provider/two/target.ts': value('../http/shared').replace(
    'const y',
    'const z = 2, x2 = z, y',
  ),
  'src/resolvers/target.ts': `import { x as flow } from '../flow/target';\nimport { Field } from 'type-graphql';\nexport const x = [flow, Field];\n`,
  'src/runtime/target.ts': value('../adapters/postgres/target'),
  'src/runtime/leak.ts': `export { graphql as x } from 'graphql';\n`,
  'src/workers/reducer/target.ts': `${value('../../runtime/target')}`,
  'src/workers/reducer/main.ts': value('./target').replace('{ x }', '{ y as x }'),
  'src/api.ts': value('./resolvers/target').replace('const y', 'const z = 1, y'),
  'sandbox/target.ts': 'export const x = 1;\n',
  'test/target.test.ts': value('../src/adapters/postgres/target'),
};

interface Report {
  readonly summary: {
    readonly violations: readonly {
      readonly from: string;
      readonly rule: { readonly name: string };
    }[];
  };
}

const cruise = (workspace: ToolWorkspace): string[] => {
  const output = workspace.runTool('dependency-cruiser/bin/dependency-cruise.mjs', [
    '--config',
    '.dependency-cruiser.cjs',
    '--output-type',
    'json',
    'src',
    'sandbox',
    'test',
  ]);
  const report = JSON.parse(output) as Report;
  return report.summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`);
};

describe('import rules', () => {
  let workspace: ToolWorkspace;
  let found: string[];

  beforeAll(() => {
    const planted = Object.fromEntries(PLANTED.map(({ from, text }) => [from, text]));
    workspace = createToolWorkspace({ ...LEGAL, ...planted });
    found = cruise(workspace);
  }, 60_000);

  afterAll(() => workspace.remove());

  test.each(PLANTED)('$rule reports $from', ({ rule, from }) => {
    expect(found).toContain(`${rule}: ${from}`);
  });

  it('reports no file that keeps to the rules', () => {
    const legal = new Set(Object.keys(LEGAL));
    const knownByDesign = ['src/domain/circle-two.ts', 'src/runtime/leak.ts'];
    const wrong = found.filter((line) => {
      const from = line.slice(line.indexOf(': ') + 2);
      return legal.has(from) && !knownByDesign.includes(from);
    });
    expect(wrong).toEqual([]);
  });

  it('has a planted violation for every rule of the configuration', () => {
    const { forbidden } = require('../../.dependency-cruiser.cjs') as {
      forbidden: readonly { readonly name: string; readonly comment?: string }[];
    };
    const planted = new Set(PLANTED.map(({ rule }) => rule));
    expect(forbidden.filter(({ name }) => !planted.has(name)).map(({ name }) => name)).toEqual([]);
    expect(forbidden.filter(({ comment }) => comment === undefined)).toEqual([]);
  });
});
