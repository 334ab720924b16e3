import type { Client } from 'pg';

/** Says goodbye, and cuts the connection when the server does not answer within `limitMs`. Never rejects. */
export const endClient = async (client: Client, limitMs: number): Promise<void> => {
  const limit = setTimeout(() => client.connection.stream.destroy(), limitMs);
  try {
    await client.end();
  } catch {
    // It was gone already, which is what we wanted.
    client.connection.stream.destroy();
  } finally {
    clearTimeout(limit);
  }
};
