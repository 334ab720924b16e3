import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

import { FINDING_KINDS } from '../../src/domain/generation/decision';
import { METRICS } from '../../src/ports/metrics';
import { describeIfAvailable, locateProgram } from '../support/requirements';
import { REPOSITORY } from './support/source-files';

const RULES = 'deploy/prometheus/aivedio-alerts.yml';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

const read = (file: string): string => readFileSync(join(REPOSITORY, file), 'utf8');
const rules = (parse(read(RULES)) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const dashboard = JSON.parse(read('deploy/grafana/aivedio.json')) as {
  panels: { type: string; title: string; targets?: { expr: string }[] }[];
};
const expressions = [
  ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ where: title, expr })),
  ),
];

const metrics: Readonly<
  Record<string, { readonly kind: string; readonly labels: readonly string[] }>
> = METRICS;
/** Of every series: the process that tells it, and the bound of a bucket. */
const EVERYWHERE = ['process', 'le'];

/** What an expression names and the product does not have. */
const unknownsOf = (expr: string): string[] => {
  const used = [...expr.matchAll(/\b(aivedio_[a-z0-9_]+)(?:\{([^}]*)\})?/g)];
  const unknown: string[] = used.length === 0 ? [`no metric in ${expr}`] : [];
  const known = new Set(EVERYWHERE);
  for (const [, series = ''] of used) {
    const name = series.replace(/_(bucket|count|sum)$/, '');
    const metric = metrics[series] ?? (metrics[name]?.kind === 'histogram' ? metrics[name] : null);
    if (metric === null) unknown.push(series);
    for (const label of metric?.labels ?? []) known.add(label);
  }
  const named = [
    ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(',')),
    ...used.flatMap(([, , matchers = '']) => matchers.split(/[=!]/, 1)),
  ].map((label) => label.trim());
  return [...unknown, ...named.filter((label) => label !== '' && !known.has(label))];
};

describe('alerts and dashboard', () => {
  it.each(expressions)('name only what the product tells: $where', ({ expr }) => {
    expect(unknownsOf(expr)).toEqual([]);
  });

  it('would notice a metric, a series and a label that do not exist', () => {
    expect(unknownsOf('max by (tenant) (aivedio_queue_depths{color="red"})')).toEqual([
      ...['aivedio_queue_depths', 'tenant', 'color'],
    ]);
    expect(unknownsOf('rate(aivedio_polls_total_bucket[5m])')).toEqual([
      'aivedio_polls_total_bucket',
    ]);
  });

  it('name only findings that there are', () => {
    const kinds = rules.flatMap(({ expr }) =>
      [...expr.matchAll(/kind=~?"([^"]*)"/g)].flatMap(([, list = '']) => list.split('|')),
    );
    expect(kinds.length).toBeGreaterThan(0);
    expect(kinds.filter((kind) => !(FINDING_KINDS as readonly string[]).includes(kind))).toEqual(
      [],
    );
  });

  it('show every metric', () => {
    const shown = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const hidden = Object.keys(METRICS).filter(
      (name) => !shown.some((expr) => new RegExp(`\\b${name}(_bucket)?\\b`).test(expr)),
    );
    expect(hidden).toEqual([]);
  });

  it('each say what to do, where they say it', () => {
    const told = [...read('docs/operations.md').matchAll(/^\| `(Aivedio\w+)`/gm)].map(
      ([, name]) => name,
    );
    expect(rules.map(({ alert }) => alert).sort()).toEqual([...told].sort());
    for (const { annotations, labels } of rules) {
      expect(['page', 'ticket']).toContain(labels.severity);
      expect(existsSync(join(REPOSITORY, annotations.runbook.replace(/#.*/, '')))).toBe(true);
    }
  });
});

describeIfAvailable('promtool', 'alert rules in Prometheus', () => {
  const promtool = (...words: string[]) => {
    const { status, stdout, stderr } = spawnSync(locateProgram('promtool'), words, {
      cwd: REPOSITORY,
      encoding: 'utf8',
    });
    return { status, said: stdout + stderr };
  };

  it('are understood', () => {
    const { status, said } = promtool('check', 'rules', RULES);
    expect(said).toContain(`SUCCESS: ${rules.length} rules found`);
    expect(status).toBe(0);
  });

  it('fire when they must and are silent otherwise', () => {
    const { status, said } = promtool('test', 'rules', RULES.replace('.yml', '.test.yml'));
    expect({ status, said }).toEqual({
      status: 0,
      said: expect.stringContaining('SUCCESS') as string,
    });
  }, 60_000);
});
