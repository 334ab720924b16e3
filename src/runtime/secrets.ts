import { createHmac } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { z } from 'zod';

import type { Config } from './config';

const stateSchema = z.object({
  databaseUrl: z.string(),
  signingSecret: z.string(),
  sandbox: z.object({ url: z.string(), apiKey: z.string(), webhookSecret: z.string() }),
  /** Where the API of the last start was; it may be gone. */
  publicUrl: z.string().optional(),
});

/** What an embedded start makes once and other processes of the same data folder read. Mode 0600. */
export type EmbeddedState = z.infer<typeof stateSchema>;

const stateFile = (dataDir: string): string => path.join(dataDir, 'runtime.json');

export const readEmbeddedState = (dataDir: string): EmbeddedState | null => {
  try {
    return stateSchema.parse(JSON.parse(readFileSync(stateFile(dataDir), 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Error(`${stateFile(dataDir)} cannot be read: ${String(error)}`, { cause: error });
  }
};

export const writeEmbeddedState = (dataDir: string, state: EmbeddedState): void => {
  mkdirSync(dataDir, { recursive: true });
  const target = stateFile(dataDir);
  writeFileSync(`${target}.new`, JSON.stringify(state, null, 2), { mode: 0o600 });
  renameSync(`${target}.new`, target);
};

export interface ResolvedSecrets {
  readonly databaseUrl: string;
  /** The server itself, where `databaseUrl` names a pooler before it. */
  readonly databaseDirectUrl: string;
  readonly signingSecret: string;
  readonly sandbox: {
    readonly url: string;
    readonly apiKey: string;
    readonly webhookSecret: string;
  } | null;
}

/** From the configuration; what it leaves out, from an embedded start of the same data folder. */
export const resolveSecrets = (config: Config): ResolvedSecrets => {
  const state =
    config.databaseUrl === null || config.signingSecret === null
      ? readEmbeddedState(config.dataDir)
      : null;
  const databaseUrl = config.databaseUrl ?? state?.databaseUrl;
  const signingSecret = config.signingSecret ?? state?.signingSecret;
  if (databaseUrl === undefined || signingSecret === undefined) {
    throw new Error(
      `No database: run "npm start" once in this folder (it keeps its server below ${config.dataDir}), or set AIVEDIO_DATABASE_URL and AIVEDIO_SIGNING_SECRET`,
    );
  }
  const { url, apiKey, webhookSecret } = config.sandbox;
  const given =
    url !== null && apiKey !== null && webhookSecret !== null
      ? { url, apiKey, webhookSecret }
      : null;
  return {
    databaseUrl,
    databaseDirectUrl: config.databaseDirectUrl ?? databaseUrl,
    signingSecret,
    sandbox: given ?? state?.sandbox ?? null,
  };
};

/** A key of its own for each use, from the one secret. */
export const deriveKey = (signingSecret: string, use: string): Buffer =>
  createHmac('sha256', Buffer.from(signingSecret, 'base64url')).update(use).digest();
