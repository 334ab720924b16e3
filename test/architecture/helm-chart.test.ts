import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { parse, parseAllDocuments } from 'yaml';

import { WORKERS } from '../../src/domain/stages';
import { describeIfAvailable, locateProgram } from '../support/requirements';
import { readSourceFiles, REPOSITORY } from './support/source-files';

const CHART = join(REPOSITORY, 'deploy/helm/aivedio');
const ALL = ['--set', 'autoscaling.enabled=true,ingress.enabled=true,ingress.tlsSecret=tls'];

interface Container {
  readonly name: string;
  readonly command: readonly string[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly livenessProbe?: { readonly httpGet: { readonly path: string } };
  readonly readinessProbe?: { readonly httpGet: { readonly path: string } };
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly replicas?: number;
    readonly minReplicaCount?: number;
    readonly maxReplicaCount?: number;
    readonly triggers?: readonly { readonly metadata: { readonly query: string } }[];
    readonly scaleTargetRef?: { readonly name: string };
    readonly selector?: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly securityContext: Readonly<Record<string, unknown>>;
        readonly containers: readonly Container[];
      };
    };
  };
}

describeIfAvailable('helm', 'the Helm chart', () => {
  const render = (...words: readonly string[]): string =>
    execFileSync(
      locateProgram('helm'),
      ['template', 'release', CHART, '--kube-version', '1.31.0', ...words],
      {
        encoding: 'utf8',
      },
    );
  const read = (text: string): readonly Manifest[] =>
    parseAllDocuments(text)
      .map((each) => each.toJS() as Manifest | null)
      .filter((each) => each !== null);
  let text = '';
  let manifests: readonly Manifest[] = [];
  beforeAll(() => {
    text = render(...ALL);
    manifests = read(text);
  });
  const ofKind = (kind: string): readonly Manifest[] =>
    manifests.filter((each) => each.kind === kind);
  const pods = () => [...ofKind('Deployment'), ...ofKind('Job')].map(({ spec }) => spec.template);

  it('satisfies helm lint', () => {
    const said = execFileSync(locateProgram('helm'), ['lint', '--strict', CHART, ...ALL], {
      encoding: 'utf8',
    });
    expect(said).toContain('0 chart(s) failed');
  });

  it('has the API and every worker, each twice, and two preparations', () => {
    const names = ['api', ...WORKERS].map((name) => `release-${name}`).sort();
    expect(
      read(render())
        .filter(({ kind }) => kind === 'Deployment')
        .map(({ spec }) => spec.replicas),
    ).toEqual(names.map(() => 2));
    expect(
      ofKind('Deployment')
        .map(({ metadata }) => metadata.name)
        .sort(),
    ).toEqual(names);
    expect(
      ofKind('PodDisruptionBudget')
        .map(({ metadata }) => metadata.name)
        .sort(),
    ).toEqual(names);
    expect(
      ofKind('Job')
        .map(({ metadata }) => metadata.name)
        .sort(),
    ).toEqual(['release-migrate', 'release-topics']);
  });

  it('starts programs that exist', () => {
    const commands = pods().flatMap((pod) =>
      (pod?.spec.containers ?? []).map(({ command }) => command[1] ?? ''),
    );
    expect(commands.length).toBe(WORKERS.length + 3);
    const sources = commands.map((each) => each.replace(/^dist\//, '').replace(/\.js$/, '.ts'));
    expect(sources.filter((each) => !existsSync(join(REPOSITORY, each)))).toEqual([]);
  });

  it('has no pod that is root or can write anything but scratch', () => {
    expect(pods().length).toBe(WORKERS.length + 3);
    for (const pod of pods()) {
      expect(pod?.spec.securityContext).toMatchObject({ runAsNonRoot: true });
      for (const { securityContext } of pod?.spec.containers ?? []) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
  });

  it('probes liveness and readiness of every process', () => {
    for (const { spec } of ofKind('Deployment')) {
      const [container] = spec.template?.spec.containers ?? [];
      expect(container?.livenessProbe?.httpGet.path).toBe('/healthz');
      expect(container?.readinessProbe?.httpGet.path).toBe('/readyz');
      expect(spec.template?.metadata.labels).toMatchObject(
        spec.selector?.matchLabels ?? { none: '' },
      );
    }
  });

  it('scales deployments that exist by metrics that exist', () => {
    const scaled = ofKind('ScaledObject');
    const deployments = ofKind('Deployment').map(({ metadata }) => metadata.name);
    const metrics = readSourceFiles(['src/ports'], '.ts')
      .map((each) => each.text)
      .join('\n');
    expect(scaled.length).toBeGreaterThan(5);
    for (const { spec } of scaled) {
      expect(deployments).toContain(spec.scaleTargetRef?.name);
      expect(spec.maxReplicaCount ?? 0).toBeGreaterThan(spec.minReplicaCount ?? 0);
      const names = (spec.triggers?.[0]?.metadata.query ?? '').match(/aivedio_[a-z0-9_]+/g) ?? [];
      expect(names.length).toBeGreaterThan(0);
      expect(
        names
          .map((name) => name.replace(/_count$/, ''))
          .filter((name) => !metrics.includes(name.replace(/_count$/, ''))),
      ).toEqual([]);
    }
  });

  it('tells the processes only variables that the product reads', () => {
    const known = readSourceFiles(['src/runtime'], '.ts')
      .map((each) => each.text)
      .join('\n');
    const told = ofKind('ConfigMap').flatMap(({ data }) => Object.keys(data ?? {}));
    expect(told.length).toBeGreaterThan(10);
    expect(told.filter((name) => !known.includes(name))).toEqual([]);
  });

  it('makes a signing secret where none is given, and no Secret where there is one', () => {
    const secret = parse(/kind: Secret[\s\S]*?(?=\n---)/.exec(text)?.[0] ?? '') as {
      stringData: Record<string, string>;
    };
    expect(secret.stringData['AIVEDIO_SIGNING_SECRET']).toMatch(/^[A-Za-z0-9]{43}$/);
    expect(render('--set', 'existingSecret=mine')).not.toMatch(/^kind: Secret$/m);
  });
});

/** From PyPI, below the cache folder or on the PATH. */
const CACHED = join(homedir(), '.cache/aivedio/kubernetes-validate/bin');
const environment = {
  ...process.env,
  PATH: `${CACHED}${delimiter}${process.env['PATH'] ?? ''}`,
  PYTHONPATH: join(CACHED, '..'),
};

describeIfAvailable('kubernetes-validate', 'the manifests of the Helm chart', () => {
  const validate = (manifests: string): string => {
    const folder = mkdtempSync(join(tmpdir(), 'aivedio-manifests-'));
    const file = join(folder, 'manifests.yaml');
    writeFileSync(file, manifests);
    try {
      return execFileSync(locateProgram('kubernetes-validate'), ['--strict', '-k', '1.31', file], {
        encoding: 'utf8',
        env: environment,
        stdio: 'pipe',
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
  // What KEDA defines is not among the schemas of Kubernetes.
  const render = (): string =>
    execFileSync(
      locateProgram('helm'),
      [
        'template',
        'release',
        CHART,
        '--kube-version',
        '1.31.0',
        '--set',
        'ingress.enabled=true,ingress.tlsSecret=tls',
      ],
      { encoding: 'utf8' },
    );

  it('satisfy the schemas of Kubernetes, strictly', () => {
    expect(() => validate(render())).not.toThrow();
  });

  it('are refused when a field is misspelt', () => {
    expect(() => validate(render().replace('containerPort:', 'containerPart:'))).toThrow();
  });
});
