import { appendFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { DataFolder } from './data-folder';

const SETTINGS_FILE = 'aivedio.conf';

export type SettingValue = string | number | boolean;
export type ServerSettings = Readonly<Record<string, SettingValue>>;

/**
 * Money is kept here, so durability is as on any production server: fsync, full_page_writes and
 * synchronous_commit stay on. The server listens on loopback TCP only; sockets in the file system
 * are off because their path must be short and a data folder's need not be.
 */
const DEFAULT_SETTINGS: ServerSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  password_encryption: 'scram-sha-256',
  max_connections: 200,
  fsync: true,
  full_page_writes: true,
  synchronous_commit: true,
  wal_compression: true,
  idle_in_transaction_session_timeout: '60s',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  logging_collector: true,
  log_directory: 'log',
  log_filename: 'postgres-%a.log',
  log_rotation_age: '1d',
  log_rotation_size: 0,
  log_truncate_on_rotation: true,
  log_line_prefix: '%m [%p] %a ',
};

/** Writes the settings for the next start; `overrides` win over the defaults. */
export async function writeServerSettings(
  folder: DataFolder,
  port: number,
  overrides: ServerSettings,
): Promise<void> {
  const settings = { ...DEFAULT_SETTINGS, ...overrides, port };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${quote(value)}`);
  await writeFile(path.join(folder.cluster, SETTINGS_FILE), `${lines.join('\n')}\n`);
  await includeSettingsFile(path.join(folder.cluster, 'postgresql.conf'));
}

async function includeSettingsFile(mainFile: string): Promise<void> {
  const line = `include = '${SETTINGS_FILE}'`;
  if ((await readFile(mainFile, 'utf8')).includes(line)) return;
  await appendFile(mainFile, `\n${line}\n`);
}

function quote(value: SettingValue): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`;
}
