import { setTimeout as wait } from 'node:timers/promises';

import type { Violation } from '../src/domain/reconciliation/facts';
import { CHECKS } from '../src/flow/verify/check-list';
import { toPublicId } from '../src/resolvers/public-id';
import { onStopSignal } from '../src/runtime/run-worker';
import { verifyStored } from '../src/runtime/verify';
import type { ChaosOptions } from './chaos-options';
import { countBranches, type Branch } from './count-branches';
import { canMount, doFault, type FaultFacts } from './do-fault';
import { CANARY, createClientFacts, driveTask, type ClientFacts } from './drive-tasks';
import { NEEDS_MOUNT, NEEDS_TOXIPROXY, type FaultKind } from './fault-kinds';
import { makePlan, type Plan } from './make-plan';
import { openWorld, type World } from './open-world';
import { untilAllEnded, untilIdle, type LeftBehind } from './settle-down';

export interface ChaosReport {
  readonly ends: ReadonlyMap<string, number>;
  readonly faults: ReadonlyMap<FaultKind, number>;
  readonly skipped: readonly FaultKind[];
  readonly branches: readonly Branch[];
  readonly clients: ClientFacts;
  readonly checksRun: number;
  readonly invariants: number;
  readonly rows: number;
  readonly violations: readonly Violation[];
  readonly left: readonly LeftBehind[];
  readonly secondsToEnd: number;
}

/** Every accepted generation must have ended this long after the last fault. */
const END_LIMIT_MS = 60_000;
/** Sweeps of slots, messages and scratch come round within this. */
const IDLE_LIMIT_MS = 90_000;
const STOP_LIMIT_MS = 60_000;
const WHILE_RUNNING = CHECKS.map(({ name }) => name).filter((name) => name !== 'no_secret_in_logs');

const QUIET = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => QUIET,
};

export const runChaos = async (
  options: ChaosOptions,
  say: (line: string) => void,
): Promise<ChaosReport> => {
  const plan = makePlan(options);
  say(
    `plan of seed ${options.seed}: ${plan.tasks.length} generations, ${plan.faults.length} faults`,
  );
  say(plan.faults.map(({ kind, atMs }) => `${(atMs / 1000).toFixed(0)}s ${kind}`).join(', '));
  const world = await openWorld(options, say);
  onStopSignal(STOP_LIMIT_MS, () => world.close(options.keep));
  try {
    const skipped = await whatCannotBeDone(world);
    for (const kind of skipped) say(`SKIPPED ${kind}: it cannot be made on this machine`);
    say(`the product runs at ${world.platform.publicUrl}, data in ${world.dataDir}`);
    return await runPlan(world, plan, skipped, say);
  } finally {
    await world.close(options.keep);
  }
};

const whatCannotBeDone = async (world: World): Promise<FaultKind[]> => [
  ...(world.toxiproxy === null ? NEEDS_TOXIPROXY : []),
  ...((await canMount(`${world.dataDir}/mount-test`)) ? [] : NEEDS_MOUNT),
];

const runPlan = async (
  world: World,
  plan: Plan,
  skipped: readonly FaultKind[],
  say: (line: string) => void,
): Promise<ChaosReport> => {
  const clients = createClientFacts();
  const facts: FaultFacts = { stoppedInCommit: 0, staleTokensRefused: 0, staleTokensTaken: 0 };
  const faults = new Map<FaultKind, number>();
  const violations = new Map<string, Violation>();
  let checksRun = 0;
  let rows = 0;
  const check = async (settleMs: number, only: readonly string[] | null): Promise<number> => {
    const report = await verifyStored({
      config: { ...world.config, databaseUrl: world.platform.databaseUrl },
      log: QUIET,
      settleMs,
      only,
      canaries: [CANARY],
      onBytes: null,
    });
    checksRun += 1;
    rows = report.rows;
    for (const each of report.violations) {
      const key = `${each.invariant} ${each.subject}`;
      if (!violations.has(key)) {
        say(`VIOLATION ${each.invariant} ${each.subject}: ${each.detail}`);
        violations.set(key, each);
      }
    }
    return report.checked.length;
  };
  const began = performance.now();
  const elapsed = (): number => performance.now() - began;
  const drivers = plan.tasks.map(async (task) => {
    await wait(task.atMs);
    await driveTask(world, clients, task);
  });
  for (const planned of plan.faults) {
    if (skipped.includes(planned.kind)) continue;
    await wait(Math.max(planned.atMs - elapsed(), 0));
    say(`fault ${planned.kind}${planned.kind.startsWith('worker_') ? ` ${planned.worker}` : ''}`);
    await doFault(world, planned, facts);
    faults.set(planned.kind, (faults.get(planned.kind) ?? 0) + 1);
    await untilSeen(() => check(60_000, WHILE_RUNNING), say);
    say(await progressOf(world, clients));
  }
  const lastFault = performance.now();
  await Promise.all(drivers);
  const ended = await untilAllEnded(world, lastFault, END_LIMIT_MS);
  await refundOne(world, clients);
  const left = [
    ...(ended.left === null ? [] : [ended.left]),
    ...(await untilIdle(world, IDLE_LIMIT_MS)),
  ];
  await check(2_000, null);
  const ends = await endsOf(world);
  const branches = await countBranches(world.pool, clients, facts);
  for (const each of judgeClients(clients, facts)) violations.set(each.subject, each);
  await world.stopProduct();
  const invariants = await afterTheEnd(world, violations, say);
  checksRun += 1;
  return {
    ends,
    faults,
    skipped,
    branches,
    clients,
    checksRun,
    invariants,
    rows,
    violations: [...violations.values()],
    left,
    secondsToEnd: ended.seconds,
  };
};

/** A look may come while Postgres is still away: then it is taken again. */
const untilSeen = async (
  look: () => Promise<unknown>,
  say: (line: string) => void,
): Promise<void> => {
  for (let tries = 0; ; tries += 1) {
    try {
      await look();
      return;
    } catch (error) {
      if (tries === 60) throw error;
      if (tries === 20) say(`cannot look yet: ${String((error as Error).message)}`);
      await wait(500);
    }
  }
};

/** The product is gone by now; its database is started for the look alone, and nothing may be left of it. */
const afterTheEnd = async (
  world: World,
  violations: Map<string, Violation>,
  say: (line: string) => void,
): Promise<number> => {
  const report = await verifyStored({
    config: world.config,
    log: QUIET,
    settleMs: 2_000,
    only: null,
    canaries: [CANARY],
    onBytes: () => undefined,
  });
  for (const each of report.violations) {
    const key = `${each.invariant} ${each.subject}`;
    if (!violations.has(key)) say(`VIOLATION ${each.invariant} ${each.subject}: ${each.detail}`);
    violations.set(key, each);
  }
  return report.checked.length;
};

const REFUND = `mutation Refund($input: CreditsRefundInput!) {
  creditsRefund(input: $input) { repeated userErrors { code } }
}`;

const refundOne = async (world: World, clients: ClientFacts): Promise<void> => {
  const { rows } = await world.pool.query<{ id: string }>(
    `SELECT id FROM generation_tasks WHERE status = 'SUCCEEDED' AND settled_micros > 1000000 ORDER BY id LIMIT 1`,
  );
  const [row] = rows;
  if (row === undefined) return;
  const input = {
    generationId: toPublicId('generation', row.id),
    amount: '1',
    reason: 'chaos',
    reference: 'chaos-1',
  };
  const answers = [
    await world.operator.request<{ creditsRefund: { repeated: boolean } }>(REFUND, { input }),
    await world.operator.request<{ creditsRefund: { repeated: boolean } }>(REFUND, { input }),
  ];
  if (answers[1]?.data?.creditsRefund.repeated !== true) {
    clients.contradictions.push('the same refund was given twice');
  }
};

const judgeClients = (clients: ClientFacts, facts: FaultFacts): Violation[] => [
  ...clients.contradictions.map((detail) => ({
    invariant: 'clients_told_the_truth',
    subject: detail,
    detail,
  })),
  ...(facts.staleTokensTaken === 0
    ? []
    : [
        {
          invariant: 'stale_token_refused',
          subject: 'slots',
          detail: 'an old token released a lease',
        },
      ]),
  ...(clients.sightings.size > 0 && countVersions(clients) === 0
    ? [{ invariant: 'subscribers_see_order', subject: 'all', detail: 'no subscriber saw anything' }]
    : []),
  ...[...clients.sightings].flatMap(([id, versions]) =>
    versions.every((version, index) => index === 0 || version >= (versions[index - 1] ?? 0))
      ? []
      : [
          {
            invariant: 'subscribers_see_order',
            subject: id,
            detail: `a subscriber saw versions ${versions.join(', ')}`,
          },
        ],
  ),
];

export const countVersions = ({ sightings }: ClientFacts): number =>
  [...sightings.values()].reduce((sum, versions) => sum + versions.length, 0);

const endsOf = async (world: World): Promise<Map<string, number>> => {
  const { rows } = await world.pool.query<{ status: string; count: number }>(
    'SELECT status, count(*)::int AS count FROM generation_tasks GROUP BY status ORDER BY status',
  );
  return new Map(rows.map(({ status, count }) => [status, count]));
};

const progressOf = async (world: World, clients: ClientFacts): Promise<string> => {
  const ends = await endsOf(world).catch(() => new Map<string, number>());
  return `accepted ${clients.accepted.size}: ${[...ends].map(([status, count]) => `${status} ${count}`).join(', ')}`;
};
