import type { Container } from '../../runtime/container';
import { startCallbackServer } from '../../runtime/callback-server';
import type { Running } from '../../runtime/run-worker';

export const startCallbackLoops = async (container: Container): Promise<Running[]> => [
  await startCallbackServer(container),
];
