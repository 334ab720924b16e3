import { lexicographicSortSchema, printSchema } from 'graphql';

import { buildApiSchema } from './schema';

const HEADER =
  '# Emitted from src/resolvers by `npm run emit:schema`; the public contract. Do not edit.\n\n';

/** The schema as it is committed: sorted, so that a diff shows what changed and nothing else. */
export const printApiSchema = async (): Promise<string> =>
  `${HEADER}${printSchema(lexicographicSortSchema(await buildApiSchema()))}\n`;
