/**
 * Asks again until `probe` gives something other than null or undefined, and gives that back. For what
 * another process does in its own time; rejects with what was awaited after `timeoutMs`.
 */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | null | undefined> | T | null | undefined,
  timeoutMs = 10_000,
  pollMs = 20,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const found = await probe();
    if (found !== null && found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`after ${timeoutMs} ms still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
