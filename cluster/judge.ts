import type { Violation } from '../src/domain/reconciliation/facts';
import type { Log } from '../src/ports/log';
import type { Config } from '../src/runtime/config';
import { verifyStored } from '../src/runtime/verify';
import type { Seen } from './back-ends';

export const QUIET: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => QUIET,
};

export interface Judgement {
  readonly invariants: number;
  readonly rows: number;
  readonly violations: readonly Violation[];
}

const SETTLE_MS = 2_000;

/** Asks every invariant of what the cluster has stored, and of the provider's own log. */
export const judgeStored = async (
  config: Config,
  options: { readonly settleMs?: number; readonly canaries?: readonly string[] } = {},
): Promise<Judgement> => {
  const report = await verifyStored({
    config,
    log: QUIET,
    settleMs: options.settleMs ?? SETTLE_MS,
    only: null,
    canaries: options.canaries ?? [],
    onBytes: null,
  });
  return {
    invariants: report.checked.length,
    rows: report.rows,
    violations: report.violations,
  };
};

const SEEN_NAMES: Readonly<Record<keyof Seen, string>> = {
  postgresCommits: 'Postgres 15: transactions',
  rocketmqMessages: 'RocketMQ: messages',
  redisCommands: 'Redis: commands',
  s3Requests: 'versitygw: requests',
};

export const describeSeen = (seen: Seen): readonly string[] =>
  Object.entries(SEEN_NAMES).map(
    ([key, name]) => `  ${name.padEnd(28)} ${String(seen[key as keyof Seen])}`,
  );

/** A server that saw nothing was not used, whatever else came out. */
export const findUnused = (seen: Seen): readonly string[] =>
  Object.entries(SEEN_NAMES).flatMap(([key, name]) =>
    seen[key as keyof Seen] > 0 ? [] : [`${name} saw nothing`],
  );
