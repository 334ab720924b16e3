import { readChaosOptions, USAGE } from './chaos-options';
import { FAULT_KINDS } from './fault-kinds';
import { REAL_MEDIA_ONE_IN } from './mostly-instant-media';
import { countVersions, runChaos, type ChaosReport } from './run-chaos';

const beganMs = performance.now();
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const say = (line: string): void =>
  print(`${((performance.now() - beganMs) / 1_000).toFixed(1).padStart(6)} s  ${line}`);

const main = async (): Promise<number> => {
  const options = readChaosOptions(process.argv.slice(2));
  if (options === 'HELP') {
    print(USAGE);
    return 0;
  }
  const report = await runChaos(options, say);
  for (const line of describe(report)) print(line);
  const broken =
    report.violations.length > 0 ||
    report.left.length > 0 ||
    (options.requireAll && report.skipped.length > 0);
  if (broken) return 1;
  return report.branches.some(({ count }) => count === 0) ? 3 : 0;
};

const describe = (report: ChaosReport): string[] => {
  const line = (name: string, value: unknown): string => `  ${name.padEnd(44)} ${String(value)}`;
  const unreached = report.branches.filter(({ count }) => count === 0).map(({ name }) => name);
  return [
    '',
    'Generations by end',
    ...[...report.ends].map(([status, count]) => line(status, count)),
    line('refused', [...report.clients.refused].map((each) => each.join(' ')).join(', ') || 0),
    line('real media tools', `1 of ${REAL_MEDIA_ONE_IN}, the rest instant`),
    '',
    'Faults by kind',
    ...[...report.faults].map(([kind, count]) => line(FAULT_KINDS[kind], count)),
    ...report.skipped.map((kind) => line(FAULT_KINDS[kind], 'SKIPPED')),
    '',
    'Branches reached',
    ...report.branches.map(({ name, count }) => line(name, count)),
    '',
    'Clients',
    line('requests sent again', report.clients.unanswered),
    line('uploads, cancels', `${report.clients.uploads}, ${report.clients.cancels}`),
    line(
      'subscribers, versions they saw',
      `${report.clients.sightings.size}, ${countVersions(report.clients)}`,
    ),
    ...[...report.clients.lostSubscriptions].map(([said, count]) =>
      line('subscriptions lost', `${count} (${said})`),
    ),
    '',
    ...report.left.flatMap(({ what, count, examples }) => [
      `left behind: ${count} ${what}`,
      ...examples.map((each) => `  ${each}`),
    ]),
    ...report.violations.map(
      ({ invariant, subject, detail }) => `violation  ${invariant}  ${subject}: ${detail}`,
    ),
    ...(unreached.length === 0 ? [] : [`void: not reached: ${unreached.join('; ')}`]),
    `kinds of faults      ${report.faults.size}`,
    `invariants checked   ${report.invariants}, ${report.checksRun} times`,
    `rows looked at       ${report.rows}`,
    `last fault to end    ${report.secondsToEnd.toFixed(1)} s`,
    `violations           ${report.violations.length + report.left.length}`,
  ];
};

// Whoever read the output has left: the run ends and cleans up, instead of dying with its server alive.
process.stdout.on('error', () => process.kill(process.pid, 'SIGTERM'));

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(
      `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(2);
  },
);
