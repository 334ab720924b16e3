import { createHash, randomBytes } from 'node:crypto';

import { V7Generator } from 'uuidv7';

import type { IdSource } from '../../ports/ids';

/** A clock that steps back by less than this keeps the order of ids: the generator goes on from the last instant. */
const ROLLBACK_ALLOWANCE_MS = 10_000;

/** Ids from the machine's randomness. */
export const createIdSource = (): IdSource => {
  const generator = new V7Generator({ nextUint32: () => randomBytes(4).readUInt32BE(0) });
  return {
    next: (at) => generator.generateOrResetCore(at.getTime(), ROLLBACK_ALLOWANCE_MS).toString(),
    secret: (bytes) => randomBytes(bytes).toString('base64url'),
  };
};

/** The same ids for the same seed and the same calls. For tests and repeatable runs; its secrets are not secret. */
export const createSeededIdSource = (seed: string): IdSource => {
  let counter = 0;
  const bytes = (count: number): Buffer => {
    const parts: Buffer[] = [];
    while (parts.length * 32 < count) {
      counter += 1;
      parts.push(createHash('sha256').update(`${seed}:${counter}`).digest());
    }
    return Buffer.concat(parts).subarray(0, count);
  };
  const generator = new V7Generator({ nextUint32: () => bytes(4).readUInt32BE(0) });
  return {
    next: (at) => generator.generateOrResetCore(at.getTime(), ROLLBACK_ALLOWANCE_MS).toString(),
    secret: (count) => bytes(count).toString('base64url'),
  };
};
