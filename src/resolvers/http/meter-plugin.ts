import type { ApolloServerPlugin } from '@apollo/server';

import type { ApiContext } from '../api-context';
import type { ApiDeps } from '../api-deps';

/**
 * How long operations take, by their first root field: the schema bounds that name, and not the caller. What does not get as far as
 * an operation is counted without one.
 */
export const createMeterPlugin = (metrics: ApiDeps['metrics']): ApolloServerPlugin<ApiContext> => ({
  requestDidStart: () => {
    const begunMs = performance.now();
    return Promise.resolve({
      willSendResponse: ({ operation, schema, errors }) => {
        const [first] = operation?.selectionSet.selections ?? [];
        const root =
          operation === undefined ? null : (schema.getRootType(operation.operation) ?? null);
        const name = first?.kind === 'Field' ? first.name.value : null;
        const isKnown = name !== null && root?.getFields()[name] !== undefined;
        metrics.observe(
          'aivedio_graphql_operation_duration_seconds',
          {
            operation: operation?.operation ?? 'none',
            field: isKnown ? name : 'other',
            outcome: errors === undefined ? 'ok' : 'error',
          },
          (performance.now() - begunMs) / 1_000,
        );
        return Promise.resolve();
      },
    });
  },
});
