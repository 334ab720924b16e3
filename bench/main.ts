import { readDisturbOptions, runDisturbBench } from './disturb/run-disturb-bench';
import { readFetchOptions, runFetchBench } from './fetch/run-fetch-bench';
import { runFlowBench } from './flow/run-flow-bench';
import { readFlowOptions } from './flow/flow-options';
import { readRelayOptions, runRelayBench } from './relay/run-relay-bench';
import { readReconcileOptions, runReconcileBench } from './reconcile/run-reconcile-bench';

const USAGE = [
  'npm run bench -- flow [--short] [--tasks N] [--open-seconds S] [--rounds R] [--processes grouped|each|one] [--tenants N] [--only product,floor,graphile] [--idle-seconds S] [--statements]',
  'npm run bench -- disturb [--short] [--hold-seconds S] [--pairs N]',
  'npm run bench -- reconcile [--short]',
  'npm run bench -- relay [--short] [--without-rocketmq]',
  'npm run bench -- fetch [--short] [--mib N] [--pairs N] [--without-s3]',
].join('\n');

const main = async (): Promise<void> => {
  const [name, ...rest] = process.argv.slice(2);
  if (name === 'flow') await runFlowBench(readFlowOptions(rest, USAGE));
  else if (name === 'disturb') await runDisturbBench(readDisturbOptions(rest));
  else if (name === 'reconcile') await runReconcileBench(readReconcileOptions(rest));
  else if (name === 'relay') await runRelayBench(readRelayOptions(rest));
  else if (name === 'fetch') await runFetchBench(readFetchOptions(rest));
  else throw new Error(`Usage: ${USAGE}`);
};

// Whoever read the output has left: the bench ends and cleans up, instead of dying with its server alive.
process.stdout.on('error', () => process.kill(process.pid, 'SIGTERM'));

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(
      `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(1);
  },
);
