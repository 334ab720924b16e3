import { fork } from 'node:child_process';
import path from 'node:path';

import type { FetchOrder, Reply } from './fetch-protocol';

/** Else the SDK of S3 says in each process until when it serves this version of Node. */
const QUIET = { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' };

type ReplyOf<Kind extends Reply['kind']> = Extract<Reply, { kind: Kind }>;

export interface Child<First extends Reply['kind']> {
  /** The first thing it said. */
  readonly first: ReplyOf<First>;
  fetch(order: Pick<FetchOrder, 'url' | 'key'>): Promise<ReplyOf<'fetched'>['fetched']>;
  stop(): Promise<void>;
}

/**
 * A process of the bench, ready.
 * @param script compiled file beside this one
 */
export const startChild = async <First extends 'ready' | 'origin'>(
  script: string,
  kind: First,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Child<First>> => {
  const child = fork(path.join(__dirname, script), args, {
    env: { ...process.env, ...QUIET, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const next = <Kind extends Reply['kind']>(wanted: Kind): Promise<ReplyOf<Kind>> =>
    new Promise((resolve, reject) => {
      const onExit = (code: number | null): void =>
        reject(new Error(`${script} exited with ${String(code)}`));
      const onMessage = (message: Reply | { readonly kind?: undefined }): void => {
        if (message.kind === undefined) return;
        child.off('exit', onExit);
        child.off('message', onMessage);
        if (message.kind === wanted) resolve(message as ReplyOf<Kind>);
        else reject(new Error(`${script}: ${JSON.stringify(message)}`));
      };
      child.once('exit', onExit);
      child.on('message', onMessage);
    });
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
  };
  try {
    return {
      first: await next(kind),
      fetch: async (order) => {
        const answered = next('fetched');
        child.send({ ask: 'fetch', ...order } satisfies FetchOrder);
        return (await answered).fetched;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
