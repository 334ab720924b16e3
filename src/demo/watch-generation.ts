import type { GraphqlClient } from '../client/graphql-client';
import { dataOf } from '../client/graphql-client';
import { GENERATION, GENERATION_UPDATED, type GenerationReport } from './operations';

interface Update {
  readonly generationUpdated: {
    readonly generation: {
      readonly status: string;
      readonly version: number;
      readonly progress: number;
      readonly waiting: { readonly reason: string } | null;
    };
  };
}

/** Prints each change as the subscription tells it, until the generation has ended; answers its last state. */
export const watchGeneration = async (
  client: GraphqlClient,
  id: string,
  print: (line: string) => void,
): Promise<GenerationReport> => {
  let last = '';
  for await (const { generationUpdated } of client.subscribe<Update>(GENERATION_UPDATED, { id })) {
    const { status, progress, waiting } = generationUpdated.generation;
    const line = `${status.padEnd(16)} ${bar(progress)} ${String(progress).padStart(3)} %${waiting === null ? '' : `  waits: ${waiting.reason}`}`;
    if (line !== last) print(line);
    last = line;
  }
  return readReport(client, id);
};

export const readReport = async (client: GraphqlClient, id: string): Promise<GenerationReport> => {
  const { generation } = dataOf(
    await client.request<{ generation: GenerationReport | null }>(GENERATION, { id }),
  );
  if (generation === null) throw new Error(`The generation ${id} cannot be read`);
  return generation;
};

const BAR_WIDTH = 20;

const bar = (progress: number): string => {
  const filled = Math.round((progress / 100) * BAR_WIDTH);
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}]`;
};
