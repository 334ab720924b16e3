import { Client, escapeIdentifier, escapeLiteral } from 'pg';

import { SUPERUSER_NAME } from './running-server';

export const PRODUCT_NAME = 'aivedio';

export interface ServerUrls {
  /** The product's own database, as a role that owns it but is no superuser. */
  readonly url: string;
  /** The maintenance database, as superuser: for tests, benchmarks and operators. */
  readonly superuserUrl: string;
}

/** The connection strings of a server on loopback. */
export function describeServerUrls(port: number, password: string): ServerUrls {
  const address = `${encodeURIComponent(password)}@127.0.0.1:${String(port)}`;
  return {
    url: `postgresql://${PRODUCT_NAME}:${address}/${PRODUCT_NAME}`,
    superuserUrl: `postgresql://${SUPERUSER_NAME}:${address}/postgres`,
  };
}

/** Makes the product's role and database when they are missing; repeating it changes nothing. */
export async function ensureProductDatabase(urls: ServerUrls, password: string): Promise<void> {
  const client = new Client({
    connectionString: urls.superuserUrl,
    connectionTimeoutMillis: 10_000,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const name = escapeIdentifier(PRODUCT_NAME);
    const role = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [PRODUCT_NAME]);
    if (role.rowCount === 0) {
      await client.query(`CREATE ROLE ${name} LOGIN PASSWORD ${escapeLiteral(password)}`);
    }
    const database = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [
      PRODUCT_NAME,
    ]);
    if (database.rowCount === 0) await client.query(`CREATE DATABASE ${name} OWNER ${name}`);
  } finally {
    await client.end();
  }
}
