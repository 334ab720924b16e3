import { connect } from 'node:net';

const LIMIT_MS = 1_500;

/**
 * Whether any of the proxies takes a connection. The client would try for a quarter of a minute before it says that none does.
 * @param endpoints host:port, separated by semicolons
 * Rejects with what the system said of the last one.
 */
export const reachAny = async (endpoints: string): Promise<void> => {
  const addresses = endpoints.split(';').filter((each) => each !== '');
  await Promise.any(addresses.map(reach)).catch((error: unknown) => {
    throw (error as AggregateError).errors.at(-1) as Error;
  });
};

const reach = (address: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const colon = address.lastIndexOf(':');
    // Brackets stand around an address of IPv6.
    const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
    const socket = connect(Number(address.slice(colon + 1)), host);
    const overdue = setTimeout(
      () => socket.destroy(new Error(`connect ${address} took more than ${String(LIMIT_MS)} ms`)),
      LIMIT_MS,
    );
    socket.once('connect', () => {
      clearTimeout(overdue);
      socket.destroy();
      resolve();
    });
    socket.once('error', (error) => {
      clearTimeout(overdue);
      reject(error);
    });
  });
