import { parseArgs } from 'node:util';

import { API_SCOPES, type ApiScope } from '../ports/api-keys';

export interface KeyOptions {
  /** Null: the first tenant. */
  readonly tenant: string | null;
  readonly name: string;
  readonly scopes: readonly ApiScope[];
  readonly lifeMs: number;
}

export const KEY_USAGE = `Usage: npm run key -- [options]
Makes one more API key of the first tenant and prints it once.
  --tenant NAME     of the tenant of that name; made, with an empty account, where there is none
  --operator        may also act across tenants (docs/operating.md)
  --scopes A,B      only these: ${API_SCOPES.join(', ')}
  --name TEXT       how lists show it ("Made on the machine")
  --days N          until it expires, 1 to 3650 (365)`;

/** All that a tenant may do, and nothing across tenants. */
export const TENANT_SCOPES: readonly ApiScope[] = API_SCOPES.filter(
  (scope) => scope !== 'operator',
);

const DAY_MS = 24 * 3_600_000;
const DAYS_MAX = 3_650;
const TENANT_CHARS_MAX = 100;

/** Throws an Error with a sentence for the person at the terminal. */
export const readKeyOptions = (argv: readonly string[]): KeyOptions | 'HELP' => {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      operator: { type: 'boolean', default: false },
      tenant: { type: 'string' },
      scopes: { type: 'string' },
      name: { type: 'string', default: 'Made on the machine' },
      days: { type: 'string', default: '365' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'HELP';
  const tenant = values.tenant?.trim() ?? null;
  if (tenant !== null && (tenant === '' || tenant.length > TENANT_CHARS_MAX)) {
    throw new Error(`--tenant: a name of 1 to ${TENANT_CHARS_MAX} characters`);
  }
  const days = Number(values.days);
  if (!Number.isInteger(days) || days < 1 || days > DAYS_MAX) {
    throw new Error(`--days: a whole number from 1 to ${DAYS_MAX}, not ${values.days}`);
  }
  const scopes =
    values.scopes === undefined ? TENANT_SCOPES : values.scopes.split(',').map(toScope);
  return {
    tenant,
    name: values.name,
    scopes: values.operator && !scopes.includes('operator') ? [...scopes, 'operator'] : scopes,
    lifeMs: days * DAY_MS,
  };
};

const toScope = (word: string): ApiScope => {
  const scope = API_SCOPES.find((each) => each === word.trim());
  if (scope === undefined) {
    throw new Error(
      `--scopes: there is no scope ${word.trim()}; there are ${API_SCOPES.join(', ')}`,
    );
  }
  return scope;
};
