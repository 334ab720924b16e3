import { readConfig } from './config';
import { startSandbox } from './sandbox';

async function main(): Promise<void> {
  const config = readConfig(process.argv.slice(2), process.env);
  const sandbox = await startSandbox(config, process.env['PATH'] ?? '');
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    void sandbox.stop().then(() => process.exit(0));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // Started as a child: it does not outlive who started it.
  process.on('disconnect', stop);
  process.stdout.write(`${JSON.stringify({ ready: true, url: sandbox.url })}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`sandbox: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
