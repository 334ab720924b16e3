import type { Page, PageRequest } from '../../../ports/read-model';

/** The part of a `findMany` that cuts a page out of a list ordered by id, newest first. One row more tells of the rest. */
export const cutOf = (page: PageRequest): { orderBy: { id: 'asc' | 'desc' }; take: number } => ({
  orderBy: { id: page.fromEnd ? 'asc' : 'desc' },
  take: page.limit + 1,
});

export const toPage = <T>(rows: readonly T[], page: PageRequest): Page<T> => {
  const items = rows.slice(0, page.limit);
  return { items: page.fromEnd ? items.reverse() : items, hasMore: rows.length > page.limit };
};

/** The smallest UUID that a row made at `at` can have: ids begin with the time, so the key's index serves time filters. */
export const idFloor = (at: Date): string => {
  const hex = Math.max(0, at.getTime()).toString(16).padStart(12, '0').slice(-12);
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
};

interface IdBounds {
  gt?: string;
  gte?: string;
  lt?: string;
}

/** Bounds of the id for a cut and a span of time. */
export const idBounds = (
  page: PageRequest,
  span: { readonly createdAfter: Date | null; readonly createdBefore: Date | null },
): IdBounds => {
  const upper = [
    page.afterId,
    span.createdBefore === null ? null : idFloor(span.createdBefore),
  ].filter((each) => each !== null);
  return {
    ...(page.beforeId === null ? {} : { gt: page.beforeId }),
    ...(span.createdAfter === null ? {} : { gte: idFloor(span.createdAfter) }),
    // UUIDs compare as their hexadecimal text does.
    ...(upper.length === 0 ? {} : { lt: upper.sort()[0] as string }),
  };
};
