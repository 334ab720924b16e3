export interface RedisAddress {
  readonly kind: 'single' | 'sentinel' | 'cluster';
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly tls: boolean;
  readonly username: string | null;
  readonly password: string | null;
  readonly database: number;
  /** What the sentinels call the master. */
  readonly masterName: string | null;
  /** Of the sentinels themselves. */
  readonly sentinelPassword: string | null;
  /** For logs and errors: hosts and what they are, no secrets. */
  readonly shown: string;
}

const FORM =
  /^(rediss?)(\+sentinel|\+cluster)?:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^@/?]+)(?:\/([^?]*))?(?:\?(.*))?$/;
const PORTS = { single: 6_379, sentinel: 26_379, cluster: 6_379 } as const;
const EXPECTED =
  'redis://[user:password@]host:port[/database], rediss:// (TLS), redis+sentinel://host:port,host:port/master or redis+cluster://host:port,host:port';

/** Throws with what was expected when the text is no such URL; never repeats the text, which may hold a password. */
export const parseRedisUrl = (url: string): RedisAddress => {
  const found = FORM.exec(url);
  if (found === null) throw new Error(`expected ${EXPECTED}`);
  const [, scheme, suffix, username, password, hostList = '', path = '', query = ''] = found;
  const kind =
    suffix === '+sentinel' ? 'sentinel' : suffix === '+cluster' ? 'cluster' : ('single' as const);
  const hosts = hostList.split(',').map((each) => hostOf(each, PORTS[kind]));
  if (kind === 'single' && hosts.length > 1) throw new Error(`expected ${EXPECTED}`);
  const [first = '', second = ''] = path.split('/');
  const masterName = kind === 'sentinel' && first !== '' ? first : null;
  if (kind === 'sentinel' && masterName === null) {
    throw new Error('expected the name that the sentinels give the master: …host:port/master');
  }
  const databaseText = kind === 'sentinel' ? second : first;
  if (!/^\d{0,4}$/.test(databaseText) || (kind === 'cluster' && databaseText !== '')) {
    throw new Error('expected a number as database; a Redis Cluster has none');
  }
  const sentinelPassword = new URLSearchParams(query).get('sentinelPassword');
  return {
    kind,
    hosts,
    tls: scheme === 'rediss',
    username: decoded(username),
    password: decoded(password),
    database: Number(databaseText),
    masterName,
    sentinelPassword,
    shown: `${hosts.map(({ host, port }) => `${host}:${port}`).join(',')}${masterName === null ? '' : ` (${masterName})`}`,
  };
};

const hostOf = (
  text: string,
  standardPort: number,
): { readonly host: string; readonly port: number } => {
  const found = /^(\[[0-9a-fA-F:]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text);
  const port = Number(found?.[2] ?? standardPort);
  if (found?.[1] === undefined || port < 1 || port > 65_535)
    throw new Error(`expected ${EXPECTED}`);
  return { host: found[1].replace(/^\[|\]$/g, ''), port };
};

const decoded = (text: string | undefined): string | null =>
  text === undefined || text === '' ? null : decodeURIComponent(text);
