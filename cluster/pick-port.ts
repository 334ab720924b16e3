import { randomInt } from 'node:crypto';

import { tryPort } from '../src/runtime/free-port';

const LOCAL = '127.0.0.1';
/** Below the ports that the system gives to outgoing connections. */
const PORT_FIRST = 10_000;
const PORT_LAST = 32_000;
const TRIES = 200;
const given = new Set<number>();

/**
 * A free port that is still free when its server comes back after a minute: the system takes the ports of outgoing connections
 * from a range of its own, and no port is answered twice. `before` is answered when it is free.
 */
export const pickPort = async (before?: number): Promise<number> => {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = tries === 0 && before !== undefined ? before : randomInt(PORT_FIRST, PORT_LAST);
    if (given.has(port) || (await tryPort(LOCAL, port)) === null) continue;
    given.add(port);
    return port;
  }
  throw new Error('No free port on this machine');
};
