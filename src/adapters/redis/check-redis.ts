import type { RedisConnection } from './redis-connection';

export interface RedisVerdict {
  /** The process must not begin with these; each names what was found and the remedy. */
  readonly refusals: readonly string[];
  /** Worth a line in the log. */
  readonly warnings: readonly string[];
}

const VERSION_MIN = 6;
const FULL_SHARE = 0.9;
const SETTINGS = /NOAUTH|WRONGPASS|NOPERM|invalid username-password|invalid password/;

/**
 * Looks at a Redis before the first use. A server that is out of reach is a warning: it may come back, and nothing is lost
 * without it. Wrong credentials, and a server that throws keys away, do not get better by waiting.
 */
export const checkRedis = async (
  connection: RedisConnection,
  needs: { readonly slots: boolean },
): Promise<RedisVerdict> => {
  try {
    const info = await connection.call(async (client) => `${await client.info()}`);
    return judge(connection.shown, readInfo(info), needs);
  } catch (error) {
    const text = (error as Error).message;
    return SETTINGS.test(text)
      ? { refusals: [`${text}. Put the right user and password into the URL`], warnings: [] }
      : {
          refusals: [],
          warnings: [
            `${text}. Is the address right, and does the server run? ${
              needs.slots ? 'Dispatch pauses' : 'Work goes on without it'
            } until it answers`,
          ],
        };
  }
};

const judge = (
  shown: string,
  info: ReadonlyMap<string, string>,
  needs: { readonly slots: boolean },
): RedisVerdict => {
  const refusals: string[] = [];
  const warnings: string[] = [];
  const refuse = needs.slots ? refusals : warnings;
  const version = info.get('redis_version') ?? '';
  if (Number(version.split('.')[0]) < VERSION_MIN) {
    refusals.push(`Redis ${version} at ${shown} is too old: use ${VERSION_MIN} or later`);
  }
  const limit = Number(info.get('maxmemory') ?? 0);
  const used = Number(info.get('used_memory') ?? 0);
  const policy = info.get('maxmemory_policy') ?? 'noeviction';
  if (policy !== 'noeviction') {
    const found = `Redis at ${shown} throws keys away when it is full (maxmemory-policy ${policy}, maxmemory ${limit} bytes); `;
    const remedy =
      'slots must not get lost: set maxmemory-policy noeviction, or AIVEDIO_SLOTS=postgres';
    // Without a limit nothing is thrown away yet.
    (limit > 0 ? refuse : warnings).push(found + remedy);
  }
  if (limit > 0 && used > limit * FULL_SHARE) {
    refuse.push(
      `Redis at ${shown} uses ${used} of ${limit} bytes (maxmemory); give it more memory, or a server of its own`,
    );
  }
  if (info.get('role') === 'slave') {
    refusals.push(
      `Redis at ${shown} is a replica and takes no writes; name its master, or its sentinels`,
    );
  }
  return { refusals, warnings };
};

const readInfo = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text
      .split(/\r?\n/)
      .map((line) => /^([a-z_]+):(.*)$/.exec(line))
      .flatMap((found) => (found === null ? [] : [[found[1] ?? '', found[2] ?? ''] as const])),
  );
