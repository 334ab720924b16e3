import type { Fetched, FetchOrder, Reply } from './fetch-protocol';

const SAMPLE_MS = 5;

export interface Fetcher {
  /** Brings what the URL serves to the key, durable; answers its SHA-256. */
  fetch(order: Pick<FetchOrder, 'url' | 'key'>): Promise<string>;
  /** So that the disk does not fill; not measured. */
  remove(key: string): Promise<void>;
}

/** Body of every process under measurement: time and memory are read inside it. */
export const serveFetcher = (fetcher: Fetcher): void => {
  const reply = (message: Reply): void => void process.send?.(message);
  let atRestBytes: number | null = null;
  const measure = async (order: FetchOrder): Promise<Fetched> => {
    atRestBytes ??= process.memoryUsage.rss();
    let mostBytes = atRestBytes;
    const look = (): void => {
      mostBytes = Math.max(mostBytes, process.memoryUsage.rss());
    };
    const timer = setInterval(look, SAMPLE_MS);
    try {
      const began = performance.now();
      const sha256 = await fetcher.fetch(order);
      const ms = performance.now() - began;
      look();
      return { sha256, ms, grownBytes: mostBytes - atRestBytes };
    } finally {
      clearInterval(timer);
    }
  };
  const answer = async (order: FetchOrder): Promise<void> => {
    try {
      const fetched = await measure(order);
      await fetcher.remove(order.key);
      reply({ kind: 'fetched', fetched });
    } catch (error) {
      const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
      reply({ kind: 'failed', error: said });
    }
  };
  process.on('disconnect', () => process.exit(0));
  process.on('message', (message: FetchOrder | { readonly ask?: undefined }) => {
    if (message.ask === 'fetch') void answer(message);
  });
  reply({ kind: 'ready' });
};
