import { setTimeout as wait } from 'node:timers/promises';

import { createSystemClock } from '../../adapters/clock/system-clock';
import { createPool } from '../../adapters/postgres';
import { createClockHealth } from '../../adapters/postgres/database-health';
import type { Health, PartHealth } from '../../ports/health';
import type { Log } from '../../ports/log';
import type { ProviderAccount } from '../../ports/provider-gateway';
import { ConfigError, type Config } from '../config';
import { createContainer, type Container } from '../container';
import { mediaHealth } from '../health/media-health';
import { remedyOf } from './remedies';

export interface Finding extends Health {
  readonly name: string;
  /** Null where all is well, and where nobody knows one. */
  readonly remedy: string | null;
}

/** What the client of a part says at its first failure may come after the time of a probe. */
const SECOND_LOOK_MS = 2_500;
const CONNECT_TIMEOUT_MS = 2_500;
/** Leases last 15 seconds and more; callbacks may be 5 minutes off. */
const SKEW_MS_MAX = 5_000;
/** No provider gives a job such an id. */
const NO_JOB = 'aivedio-doctor';

/**
 * Asks everything that this configuration names, as a process of the product would, and changes nothing. Throws where there is not
 * even an address to ask.
 */
export const examineDeployment = async (
  config: Config,
  quiet: Log,
): Promise<readonly Finding[]> => {
  const container = createContainer(config, 'doctor', quiet);
  const { clockPool, clockCheck } = openClockCheck(container);
  container.health.add(mediaHealth(container));
  container.health.add({ name: 'clock', weight: 'INFORMATION', check: clockCheck });
  try {
    const parts = await lookTwice(container);
    const answers = (part: string): boolean => parts.some(({ name, ok }) => name === part && ok);
    const isDatabaseThere = answers('database');
    const all: (Health & { readonly name: string })[] = [...parts];
    all.push(...(await startFindings(container)));
    if (isDatabaseThere && answers('migrations')) {
      all.push(...(await askProviders(container)));
    }
    return all
      .filter(({ name, ok }) => ok || isDatabaseThere || !NEEDS_DATABASE.includes(name))
      .filter(({ name, ok }) => ok || answers('migrations') || !NEEDS_TABLES.includes(name))
      .map(({ name, ok, detail }) => ({
        ...{ name, ok, detail },
        remedy: ok ? null : remedyOf(isInS3(name, config) ? 'objects in S3' : name, detail),
      }));
  } finally {
    await container.close();
    await clockPool.end();
  }
};

const isInS3 = (part: string, { objectStore }: Config): boolean =>
  part === 'objects' && objectStore.s3 !== null;

/** These ask the database, and some its tables: without them they would all say the same once more. */
const NEEDS_TABLES: readonly string[] = ['admission', 'providers'];
const NEEDS_DATABASE: readonly string[] = [...NEEDS_TABLES, 'migrations', 'clock'];

const openClockCheck = ({ secrets }: Container) => {
  const clockPool = createPool({
    ...{ connectionString: secrets.databaseDirectUrl, max: 1, applicationName: 'aivedio doctor' },
    connectionTimeoutMs: CONNECT_TIMEOUT_MS,
    statementTimeoutMs: CONNECT_TIMEOUT_MS,
    idleInTransactionTimeoutMs: CONNECT_TIMEOUT_MS,
  });
  return { clockPool, clockCheck: createClockHealth(clockPool, createSystemClock(0), SKEW_MS_MAX) };
};

const lookTwice = async ({ health }: Container): Promise<readonly PartHealth[]> => {
  const first = await health.read();
  if (first.parts.every(({ ok }) => ok)) return first.parts;
  await wait(SECOND_LOOK_MS);
  return (await health.read()).parts;
};

/** What a start would refuse, one finding for each problem; each names its variable. */
const startFindings = async (container: Container) => {
  try {
    await container.checkAtStart();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((detail) => ({ name: 'start', ok: false, detail }));
  }
};

const askProviders = async (container: Container) => {
  const rows = await container.context.uow.stores.catalog.listAccounts();
  const findings = await Promise.all(
    rows.map(async ({ id, providerId, baseUrl }) => {
      const asked = await container.provider
        .accountOf(id)
        .then((account) => askProvider(container, providerId, account))
        .catch((error: unknown): Health => ({ ok: false, detail: (error as Error).message }));
      return {
        name: `provider ${providerId}`,
        ok: asked.ok,
        detail: `${baseUrl}: ${asked.detail}`,
      };
    }),
  );
  return findings;
};

/** A question about a job that does not exist costs nothing, and its answer says that address and key are right. */
const askProvider = async (
  { gatewayOrNull }: Container,
  providerId: string,
  account: ProviderAccount,
): Promise<Health> => {
  const gateway = gatewayOrNull(providerId);
  if (gateway === null) return { ok: false, detail: 'this release has no adapter for it' };
  const answer = await gateway.query(account, NO_JOB);
  return answer.kind === 'UNAVAILABLE'
    ? { ok: false, detail: answer.code }
    : { ok: true, detail: 'answers, and takes the key' };
};
