import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { z } from 'zod';

import { createIdSource } from '../src/adapters/ids/uuid-ids';
import { pickPort } from './pick-port';

const schema = z.object({
  signingSecret: z.string(),
  sandboxApiKey: z.string(),
  sandboxWebhookSecret: z.string(),
  /** Attempts of an earlier start lead there. */
  sandboxPort: z.number(),
});

export type ClusterSecrets = z.infer<typeof schema>;

/** Made at the first start of a folder and kept in it, mode 0600: what was signed yesterday can be read today. */
export const readOrMakeSecrets = async (dataDir: string): Promise<ClusterSecrets> => {
  const file = path.join(dataDir, 'cluster.json');
  const before = existsSync(file) ? schema.parse(JSON.parse(readFileSync(file, 'utf8'))) : null;
  const ids = createIdSource();
  const secrets: ClusterSecrets = {
    ...(before ?? {
      signingSecret: ids.secret(32),
      sandboxApiKey: ids.secret(24),
      sandboxWebhookSecret: `whsec_${Buffer.from(ids.secret(32), 'base64url').toString('base64')}`,
    }),
    sandboxPort: await pickPort(before?.sandboxPort),
  };
  writeFileSync(file, JSON.stringify(secrets, null, 2), { mode: 0o600 });
  return secrets;
};
