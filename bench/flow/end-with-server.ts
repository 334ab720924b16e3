/** Stops the server once, whether the bench ends or somebody stops it. */
export const endWithServer = (server: { stop(): Promise<void> }): (() => Promise<void>) => {
  let stopped: Promise<void> | null = null;
  const stop = (): Promise<void> => (stopped ??= server.stop());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void stop().finally(() => process.exit(130)));
  }
  return stop;
};
