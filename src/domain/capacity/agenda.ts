/** What will happen, the earliest first; of equal times the one that was entered first. A binary heap. */
export interface Agenda<T> {
  enter(at: number, what: T): void;
  /** Takes out the earliest; null when nothing is left. */
  next(): { readonly at: number; readonly what: T } | null;
}

interface Entry<T> {
  readonly at: number;
  readonly order: number;
  readonly what: T;
}

export const createAgenda = <T>(): Agenda<T> => {
  const heap: Entry<T>[] = [];
  let entered = 0;
  const at = (index: number): Entry<T> => heap[index] as Entry<T>;
  const isBefore = (a: number, b: number): boolean =>
    at(a).at < at(b).at || (at(a).at === at(b).at && at(a).order < at(b).order);
  const swap = (a: number, b: number): void => {
    [heap[a], heap[b]] = [at(b), at(a)];
  };
  const rise = (index: number): void => {
    const parent = (index - 1) >> 1;
    if (index === 0 || !isBefore(index, parent)) return;
    swap(index, parent);
    rise(parent);
  };
  const sink = (index: number): void => {
    const [left, right] = [2 * index + 1, 2 * index + 2];
    let least = index;
    if (left < heap.length && isBefore(left, least)) least = left;
    if (right < heap.length && isBefore(right, least)) least = right;
    if (least === index) return;
    swap(least, index);
    sink(least);
  };
  return {
    enter: (when, what) => {
      heap.push({ at: when, order: entered++, what });
      rise(heap.length - 1);
    },
    next: () => {
      const first = heap[0];
      if (first === undefined) return null;
      const last = heap.pop() as Entry<T>;
      if (heap.length > 0) {
        heap[0] = last;
        sink(0);
      }
      return { at: first.at, what: first.what };
    },
  };
};
