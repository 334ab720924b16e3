import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import { Pool } from 'pg';
import type { QueryArrayConfig, QueryArrayResult } from 'pg';

import type * as EngineModule from '@prisma/schema-engine-wasm/schema_engine_bg' with {
  'resolution-mode': 'import',
};

import type { MigrationFile } from './migration-files';

/**
 * Prisma's schema engine, compiled to WebAssembly. The native engine is a download, which neither
 * a closed network nor npm's skipped install scripts allow; this one comes with `npm ci`. It has no
 * public documentation, so its version is pinned to that of prisma and no other file touches it.
 *
 * Its `_prisma_migrations` table is the ordinary one: `prisma migrate deploy` works on the result.
 */
export interface SchemaEngine {
  /** Applies what is missing, in order. Throws what the database said. */
  applyMigrations(baseDir: string, migrations: readonly MigrationFile[]): Promise<void>;
  /** The SQL that would bring the database to `schemaFiles`; empty when they agree. */
  diffDatabaseTo(schemaFiles: readonly SchemaFile[]): Promise<string>;
  close(): Promise<void>;
}

export interface SchemaFile {
  readonly path: string;
  readonly content: string;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** All who come after a statement that waits for a lock wait too. */
const LOCK_TIMEOUT_MS = 5_000;
const NO_FILTERS = { externalTables: [], externalEnums: [] };
const LOCKFILE = { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' };
/** The engine only needs to learn which dialect it speaks. */
const DIALECT = 'datasource db {\n  provider = "postgresql"\n}\n';

/** Type numbers of Postgres: the catalogs' one-byte "char", and text. */
const CATALOG_CHAR_OID = 18;
const TEXT_OID = 25;

/**
 * Prisma's own adapter cuts a script at every semicolon, also inside a function's body, and does
 * not know the type "char" of the catalogs, which the engine reads when it looks at a database.
 * This one sends a script whole, as the native engine does (one simple query, which is one
 * transaction), and answers "char" as what the engine expects.
 */
class MigrationPrismaPg extends PrismaPg {
  readonly #pool: CatalogPool;

  constructor(pool: CatalogPool) {
    super(pool);
    this.#pool = pool;
  }

  override async connect(): Promise<Awaited<ReturnType<PrismaPg['connect']>>> {
    const adapter = await super.connect();
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.executeScript = async (script) => {
      await adapter.executeRaw({ sql: script, args: [], argTypes: [] });
    };
    adapter.queryRaw = async (query) => {
      const result = await queryRaw(query);
      for (const column of this.#pool.charColumns.get(result.rows) ?? []) {
        result.columnTypes[column] = ColumnTypeEnum.Character;
      }
      return result;
    };
    return adapter;
  }
}

class CatalogPool extends Pool {
  /** Which columns of a list of rows are "char". */
  readonly charColumns = new WeakMap<object, number[]>();

  // The declared overloads of `query` cannot be restated; Prisma's adapter uses this one only.
  override query = (async (config: QueryArrayConfig): Promise<QueryArrayResult> => {
    // A script of several statements has a list of results.
    const result = (await super.query(config)) as QueryArrayResult | QueryArrayResult[];
    for (const { fields, rows } of [result].flat()) {
      const columns = fields.flatMap((field, i) =>
        field.dataTypeID === CATALOG_CHAR_OID ? i : [],
      );
      for (const field of fields) {
        if (field.dataTypeID === CATALOG_CHAR_OID) field.dataTypeID = TEXT_OID;
      }
      this.charColumns.set(rows, columns);
    }
    return result as QueryArrayResult;
  }) as Pool['query'];
}

/** Loads the engine (about 5 MB of WebAssembly) and connects it to one database. */
export async function openSchemaEngine(
  connectionString: string,
  schemaFiles: readonly SchemaFile[] = [{ path: 'schema.prisma', content: DIALECT }],
): Promise<SchemaEngine> {
  const { SchemaEngine: Engine } = await loadModule();
  const pool = new CatalogPool({
    connectionString,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    max: 2,
    lock_timeout: LOCK_TIMEOUT_MS,
  });
  const engine = await Engine.new(
    { datamodels: schemaFiles.map((file) => [file.path, file.content]) },
    () => undefined,
    bindMigrationAwareSqlAdapterFactory(new MigrationPrismaPg(pool)),
  );
  return {
    applyMigrations: async (baseDir, migrations) => {
      await engine.applyMigrations({
        migrationsList: describeMigrations(baseDir, migrations),
        filters: NO_FILTERS,
      });
    },
    diffDatabaseTo: async (target) => {
      const { stdout, exitCode } = await engine.diff({
        from: { tag: 'schemaDatasource', files: [...schemaFiles], configDir: '.' },
        to: { tag: 'schemaDatamodel', files: [...target] },
        script: true,
        exitCode: true,
        filters: NO_FILTERS,
      });
      return exitCode === 0 ? '' : (stdout ?? '');
    },
    close: async () => {
      engine.free();
      await pool.end();
    },
  };
}

/** The part used here; the type library for Node does not declare WebAssembly. */
interface WebAssemblyGlobal {
  instantiate(
    bytes: Uint8Array,
    imports: Record<string, unknown>,
  ): Promise<{ instance: { exports: { __wbindgen_start(): void } } }>;
}

let loading: Promise<typeof EngineModule> | undefined;

/**
 * The package's main export wants a bundler that turns `import '*.wasm'` into code, so its inner
 * module is given the instance by hand.
 */
function loadModule(): Promise<typeof EngineModule> {
  loading ??= (async () => {
    const bindings = await import('@prisma/schema-engine-wasm/schema_engine_bg');
    const entry = createRequire(__filename).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
    const bytes = await readFile(path.join(path.dirname(entry), 'schema_engine_bg.wasm'));
    const { WebAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyGlobal };
    const { instance } = await WebAssembly.instantiate(bytes, {
      './schema_engine_bg.js': withoutLingeringTimers(bindings),
    });
    bindings.__wbg_set_wasm(instance.exports);
    // Without this the engine's own panic handler throws something unreadable.
    Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: { set_message: rememberPanic } });
    instance.exports.__wbindgen_start();
    return bindings;
  })();
  return loading;
}

/**
 * The engine limits the wait for its own lock by a timer of ten seconds that it never clears; a
 * command that migrates and ends would linger for as long.
 */
function withoutLingeringTimers(bindings: object): Record<string, unknown> {
  const imports: Record<string, unknown> = { ...bindings };
  const name = Object.keys(imports).find((key) => key.startsWith('__wbg_setTimeout_'));
  if (name !== undefined) {
    imports[name] = (callback: () => void, delayMs: number) =>
      setTimeout(callback, delayMs).unref();
  }
  return imports;
}

function rememberPanic(message: string): void {
  process.emitWarning(`Prisma's schema engine panicked: ${message}`);
}

function describeMigrations(
  baseDir: string,
  migrations: readonly MigrationFile[],
): EngineModule.MigrationList {
  return {
    baseDir,
    lockfile: LOCKFILE,
    shadowDbInitScript: '',
    migrationDirectories: migrations.map(({ name, script }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: script } },
    })),
  };
}
