import { createServer, type AddressInfo } from 'node:net';

/** `wanted` when it is free on the host, else (or when it is 0) any free port. */
export const freePort = async (host: string, wanted: number): Promise<number> =>
  (await tryPort(host, wanted)) ??
  (await tryPort(host, 0)) ??
  Promise.reject(new Error(`No free port on ${host}`));

/** The port when it could be bound; null when it is taken. */
export const tryPort = (host: string, port: number): Promise<number | null> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen(port, host, () => {
      const bound = (server.address() as AddressInfo).port;
      server.close(() => resolve(bound));
    });
  });
