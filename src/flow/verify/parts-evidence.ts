import { QUARANTINE_PREFIX } from '../../domain/output/object-keys';
import type { ObjectStore } from '../../ports/object-store';
import type { Evidence } from '../../ports/verification';

/**
 * The uploads in parts that are open in the store: those of clients, which rows know, and those of the product's own writers that
 * were begun before `leftBefore`, so that whoever began them has died.
 */
export async function* partsEvidence(
  store: Pick<ObjectStore, 'parts'>,
  leftBefore: Date,
): AsyncGenerator<Evidence> {
  for await (const { key, uploadId, beganAt } of store.parts.listOpen('')) {
    if (!key.startsWith(QUARANTINE_PREFIX) && beganAt >= leftBefore) continue;
    yield { kind: 'parts', id: uploadId, reference: key, amount: null, at: beganAt };
  }
}
