import { tenantOfKey } from '../../domain/output/object-keys';
import type { ListedObject, ObjectStore } from '../../ports/object-store';
import type { FlowContext } from '../flow-context';

const PAGE = 1_000;

/**
 * Deletes what no row names, page by page through the whole store and round again; answers a function for the loop. Where it
 * stands is kept in the process: a restart begins anew, which costs reads and nothing else. Objects whose key is none of the
 * product's are left alone.
 */
export const createObjectSweep = (
  context: FlowContext,
  objects: Pick<ObjectStore, 'list' | 'deleteIfOlder'>,
  page = PAGE,
): (() => Promise<number>) => {
  let startAfter = '';
  return async () => {
    const before = new Date(context.clock.now().getTime() - context.settings.orphanObjectAgeMs);
    const old: ListedObject[] = [];
    let seen = 0;
    let last = '';
    for await (const head of objects.list('', { startAfter, limit: page })) {
      seen += 1;
      last = head.key;
      if (head.modifiedAt < before && tenantOfKey(head.key) !== null) old.push(head);
    }
    const { repair } = context.uow.stores;
    const keys = old.map(({ key }) => key);
    const orphans = new Set(
      keys.length === 0 ? [] : await repair.listObjectsWithoutOwner(keys, before),
    );
    let deleted = 0;
    for (const head of old) {
      if (orphans.has(head.key) && (await deleteOrphan(context, objects, head, before))) {
        deleted += 1;
      }
    }
    startAfter = seen < page ? '' : last;
    return deleted;
  };
};

/**
 * The finding is written first: a crash after it leaves one that the next round ends. The look at the page may be old by now,
 * so the row is asked for once more, and the store deletes only what nobody has put again since.
 */
const deleteOrphan = async (
  context: FlowContext,
  objects: Pick<ObjectStore, 'deleteIfOlder'>,
  head: ListedObject,
  before: Date,
): Promise<boolean> => {
  const { findings, repair } = context.uow.stores;
  const record = (actionTaken: string | null): Promise<void> => {
    const now = context.clock.now();
    return findings.record({
      id: context.ids.next(now),
      kind: 'ORPHAN_OBJECT',
      subjectKind: 'object',
      subjectId: head.key,
      tenantId: tenantOfKey(head.key),
      detail: { modifiedAt: head.modifiedAt.toISOString(), sizeBytes: head.sizeBytes },
      actionTaken,
      now,
    });
  };
  const end = (resolution: string): Promise<number> =>
    findings.resolveOf('ORPHAN_OBJECT', [head.key], 'reconciler', resolution, context.clock.now());
  await record(null);
  const still = await repair.listObjectsWithoutOwner([head.key], before);
  if (still.length === 0 || !(await objects.deleteIfOlder(head.key, before))) {
    await end('it is used again, or was gone; left alone');
    return false;
  }
  await record('deleted');
  await end('deleted');
  return true;
};
