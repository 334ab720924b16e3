import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import { openSchemaEngine } from './schema-engine';
import type { SchemaFile } from './schema-engine';

export interface DiffSchemaOptions {
  readonly connectionString: string;
  /** A .prisma file, or a folder of them. */
  readonly schemaPath: string;
}

/**
 * The SQL that would turn the database into what the Prisma schema says; empty when they agree.
 * What Prisma cannot say is not compared: partial indexes, checks, triggers, functions, partitions.
 */
export async function diffSchema(options: DiffSchemaOptions): Promise<string> {
  const schemaFiles = await readSchemaFiles(options.schemaPath);
  const engine = await openSchemaEngine(options.connectionString, schemaFiles);
  try {
    return await engine.diffDatabaseTo(schemaFiles);
  } finally {
    await engine.close();
  }
}

async function readSchemaFiles(schemaPath: string): Promise<SchemaFile[]> {
  const isFolder = (await stat(schemaPath)).isDirectory();
  const entries = isFolder ? await readdir(schemaPath, { recursive: true }) : [''];
  const files = entries.map((entry) => path.join(schemaPath, entry));
  return Promise.all(
    files
      .filter((file) => file.endsWith('.prisma'))
      .sort()
      .map(async (file) => ({ path: file, content: await readFile(file, 'utf8') })),
  );
}
