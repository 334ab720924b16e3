import { createReducer } from '../../flow/reduce/reduce-observation';
import type { Container } from '../../runtime/container';
import { consume } from '../../runtime/parts';
import type { Running } from '../../runtime/run-worker';

export const startReducerLoops = async (container: Container): Promise<Running[]> => [
  consume(container, 'reducer', 32, {
    'provider.status.observed': createReducer(container.context, container.slots),
  }),
];
