import { openCluster, type Cluster } from '../cluster/open-cluster';
import {
  mediaScript,
  portOf,
  SANDBOX_ARGS,
  withPort,
  type Product,
  type Setting,
} from './product-of-one';

const LOOK_MS = 300;

/** The product over real servers, two of each process; a kind of worker is hit in one of its two. */
export const openProductOfMany = async (setting: Setting): Promise<Product> => {
  const { dataDir, say, log, env, toxiproxy, proxied } = setting;
  const cluster = await openCluster({
    ...{ dataDir, say, log },
    env: { ...env, AIVEDIO_CALLBACK_URL: setting.callbackUrl },
    sandboxArgs: SANDBOX_ARGS,
    scripts: { media: mediaScript() },
    backEndEnv: async (told) => {
      const url = told['AIVEDIO_DATABASE_URL'];
      if (toxiproxy === null || proxied === null || url === undefined) return told;
      await toxiproxy.leadTo('postgres', portOf(url));
      return { ...told, AIVEDIO_DATABASE_URL: withPort(url, proxied.postgres) };
    },
  });
  const stopKeeping = keepPostgres(cluster, say);
  let turn = 0;
  const pidOf = (name: string): number | null => {
    turn += 1;
    const { supervisor } = cluster;
    return name === 'sandbox'
      ? supervisor.pidOf(name)
      : supervisor.pidOf(`${name}-${1 + (turn % 2)}`);
  };
  return {
    config: cluster.config,
    platform: {
      publicUrl: cluster.front.url,
      callbackUrl: cluster.callbackFront.url,
      sandboxUrl: cluster.sandboxUrl,
      databaseUrl: cluster.backEnds.postgres.url,
      supervisor: { pidOf },
    },
    token: cluster.apiKey,
    env: { ...cluster.env, ...cluster.backEnds.env },
    backEnds: cluster.backEnds,
    postmaster: () => Promise.resolve(cluster.backEnds.postgres.pids[0] ?? 0),
    stopProcesses: () => cluster.stopProduct(),
    close: async () => {
      stopKeeping();
      await cluster.stop();
    },
  };
};

/** As whoever runs a database keeps it: a server that is gone is started again. */
const keepPostgres = ({ backEnds }: Cluster, say: (line: string) => void): (() => void) => {
  let starting = false;
  const timer = setInterval(() => {
    if (starting || backEnds.postgres.pids.length > 0) return;
    starting = true;
    backEnds.postgres
      .start()
      .catch((error: unknown) => say(`Postgres does not start: ${String(error)}`))
      .finally(() => {
        starting = false;
      });
  }, LOOK_MS);
  return () => clearInterval(timer);
};
