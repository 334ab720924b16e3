import { format } from 'node:util';

import type { ILogger } from 'rocketmq-client-nodejs';

import type { Log } from '../../ports/log';

const REPEAT_MS = 30_000;

/**
 * The client's words in the product's log. It repeats its errors every second of an outage: each kind of line is written once in a
 * while. Without a logger of ours it would write a file in the home folder.
 */
export const createClientLog = (log: Log): ILogger => {
  const lastAt = new Map<string, number>();
  const isRepeated = (template: unknown): boolean => {
    const key = String(template).slice(0, 60);
    const now = performance.now();
    const last = lastAt.get(key);
    if (last !== undefined && now - last < REPEAT_MS) return true;
    lastAt.set(key, now);
    return false;
  };
  const write =
    (level: 'debug' | 'warn') =>
    (...words: readonly unknown[]): void => {
      if (level === 'warn' && isRepeated(words[0])) return;
      log[level]('rocketmq client', { text: format(...words) });
    };
  return {
    debug: write('debug'),
    info: write('debug'),
    warn: write('debug'),
    error: write('warn'),
  };
};
