import { setTimeout as wait } from 'node:timers/promises';

import type { Pool, QueryResultRow } from 'pg';

import type { GraphqlClient } from '../../src/client/graphql-client';
import { toUuid } from '../../src/resolvers/public-id';
import type { ClusterProcess } from '../list-processes';
import type { Cluster } from '../open-cluster';
import { readMetric, readReadiness } from './read-processes';
import { createTraffic, type Traffic } from './traffic';

/** What a scenario has in its hands: the servers to break, callers, and what must hold. */
export interface Scene {
  readonly cluster: Cluster;
  readonly client: GraphqlClient;
  readonly traffic: Traffic;
  readonly failures: readonly string[];
  /** The long form's seconds, or those of the short form. */
  last(longS: number, shortS: number): number;
  pause(seconds: number): Promise<void>;
  /** A named assertion: said and, when it does not hold, remembered. */
  expect(what: string, holds: boolean, detail?: string | undefined): void;
  /** Waits until it holds; a named assertion all the same. */
  eventually(what: string, holds: () => Promise<boolean>, limitS: number): Promise<void>;
  /** Empty while the database is away. */
  rows<Row extends QueryResultRow>(
    sql: string,
    values?: readonly unknown[],
  ): Promise<readonly Row[]>;
  processesOf(kind: ClusterProcess['kind']): readonly ClusterProcess[];
  /** Every process of the kind calls the part good, or bad. */
  partIs(kind: ClusterProcess['kind'], part: string, ok: boolean): Promise<boolean>;
  /** Every process of the kind takes work. */
  areReady(kind: ClusterProcess['kind']): Promise<boolean>;
  /** The largest sample over all processes of the kind; null when there is none. */
  metric(
    kind: ClusterProcess['kind'],
    name: string,
    labels?: Readonly<Record<string, string>>,
  ): Promise<number | null>;
  /** Statuses of generations by their public ids. */
  statusesOf(ids: readonly string[]): Promise<readonly string[]>;
  queueProviderFaults(next: readonly unknown[]): Promise<void>;
}

const LOOK_MS = 250;

export const openScene = (options: {
  readonly name: string;
  readonly cluster: Cluster;
  readonly client: GraphqlClient;
  readonly pool: Pool;
  readonly sampled: boolean;
  readonly say: (line: string) => void;
}): Scene => {
  const { cluster, client, pool, say } = options;
  const failures: string[] = [];
  const expect: Scene['expect'] = (what, holds, detail) => {
    say(`  ${holds ? 'holds' : 'FAILS'}  ${what}${detail === undefined ? '' : ` (${detail})`}`);
    if (!holds) failures.push(`${what}${detail === undefined ? '' : ` (${detail})`}`);
  };
  const processesOf: Scene['processesOf'] = (kind) =>
    cluster.processes.filter((each) => each.kind === kind);
  const rows: Scene['rows'] = async <Row extends QueryResultRow>(
    sql: string,
    values: readonly unknown[] = [],
  ) =>
    pool.query<Row>(sql, [...values]).then(
      (answer) => answer.rows,
      () => [],
    );
  return {
    ...{ cluster, client, failures, expect, processesOf, rows },
    traffic: createTraffic(client, options.name),
    last: (longS, shortS) => (options.sampled ? shortS : longS),
    pause: (seconds) => wait(seconds * 1_000),
    eventually: async (what, holds, limitS) => {
      const began = performance.now();
      const seconds = (): number => (performance.now() - began) / 1_000;
      while (seconds() < limitS) {
        if (await holds()) {
          expect(what, true, `after ${seconds().toFixed(1)} s`);
          return;
        }
        await wait(LOOK_MS);
      }
      expect(what, false, `not within ${limitS} s`);
    },
    partIs: async (kind, part, ok) => {
      const said = await Promise.all(processesOf(kind).map(readReadiness));
      return said.every((each) => each?.parts.get(part) === ok);
    },
    areReady: async (kind) => {
      const said = await Promise.all(processesOf(kind).map(readReadiness));
      return said.every((each) => each?.status === 200);
    },
    metric: async (kind, name, labels) => {
      const samples = await Promise.all(
        processesOf(kind).map((each) => readMetric(each, name, labels)),
      );
      const all = samples.flat();
      return all.length === 0 ? null : Math.max(...all);
    },
    statusesOf: async (ids) => {
      const found = await rows<{ status: string }>(
        'SELECT status FROM generation_tasks WHERE id = ANY($1)',
        [ids.map((id) => toUuid('generation', id))],
      );
      return found.map(({ status }) => status);
    },
    queueProviderFaults: async (next) => {
      const answer = await fetch(`${cluster.sandboxUrl}/_admin/faults`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${cluster.sandboxApiKey}`,
        },
        body: JSON.stringify({ next }),
      });
      if (!answer.ok) throw new Error(`The sandbox took no faults: ${answer.status}`);
    },
  };
};
