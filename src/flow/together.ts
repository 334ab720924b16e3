/**
 * Two pieces of work of one transaction whose statements may share their round trips. Both have ended before the failure of either is
 * told: nothing of a transaction may still be under way when it is rolled back.
 */
export const together = async <A, B>(
  first: Promise<A>,
  second: Promise<B>,
): Promise<readonly [A, B]> => {
  const [a, b] = await Promise.allSettled([first, second]);
  // What was sent first fails first; the rest of an aborted transaction only says that it was aborted.
  if (a.status === 'rejected') throw a.reason;
  if (b.status === 'rejected') throw b.reason;
  return [a.value, b.value];
};
