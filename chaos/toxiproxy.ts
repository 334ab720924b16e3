import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

import { freePort } from '../src/runtime/free-port';

const runFile = promisify(execFile);

export const TOXIPROXY = 'github.com/Shopify/toxiproxy/v2/cmd/server@v2.12.0';
const LOCAL = '127.0.0.1';

export interface Toxic {
  readonly type: 'latency' | 'reset_peer' | 'timeout';
  readonly stream: 'upstream' | 'downstream';
  readonly attributes: Readonly<Record<string, number>>;
}

export interface Toxiproxy {
  /** Listens at a port of its choice, and leads nowhere until `leadTo` was called. */
  add(name: string): Promise<number>;
  leadTo(name: string, port: number): Promise<void>;
  poison(name: string, toxics: readonly Toxic[]): Promise<void>;
  cure(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** Builds the pinned server with Go, once, and starts it. Null where there is no Go, or no way to fetch it. */
export const startToxiproxy = async (say: (line: string) => void): Promise<Toxiproxy | null> => {
  const binary = await buildToxiproxy(say);
  if (binary === null) return null;
  const port = await freePort(LOCAL, 0);
  const server = spawn(binary, ['-host', LOCAL, '-port', String(port)], { stdio: 'ignore' });
  const api = `http://${LOCAL}:${port}`;
  await untilAnswers(`${api}/version`, server);
  const listens = new Map<string, number>();
  return {
    add: async (name) => {
      const listen = await freePort(LOCAL, 0);
      listens.set(name, listen);
      await call(`${api}/proxies`, 'POST', {
        name,
        listen: `${LOCAL}:${listen}`,
        upstream: `${LOCAL}:9`,
        enabled: true,
      });
      return listen;
    },
    leadTo: async (name, upstream) => {
      await call(`${api}/proxies/${name}`, 'POST', {
        listen: `${LOCAL}:${listens.get(name) ?? 0}`,
        upstream: `${LOCAL}:${upstream}`,
        enabled: true,
      });
    },
    poison: async (name, toxics) => {
      for (const toxic of toxics) await call(`${api}/proxies/${name}/toxics`, 'POST', toxic);
    },
    cure: async (name) => {
      const proxy = (await call(`${api}/proxies/${name}`, 'GET')) as {
        toxics: readonly { name: string }[];
      };
      for (const toxic of proxy.toxics) {
        await call(`${api}/proxies/${name}/toxics/${toxic.name}`, 'DELETE');
      }
    },
    stop: async () => {
      const gone = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGTERM');
      await gone;
    },
  };
};

const buildToxiproxy = async (say: (line: string) => void): Promise<string | null> => {
  const version = TOXIPROXY.slice(TOXIPROXY.lastIndexOf('@') + 1);
  const folder = path.join(homedir(), '.cache', 'aivedio', `toxiproxy-${version}`);
  const binary = path.join(folder, 'server');
  if (existsSync(binary)) return binary;
  await mkdir(folder, { recursive: true });
  say(`building toxiproxy ${version} …`);
  try {
    await runFile('go', ['install', TOXIPROXY], {
      env: { ...process.env, GOBIN: folder },
      cwd: folder,
      timeout: 300_000,
    });
    return binary;
  } catch (error) {
    say(`toxiproxy cannot be built: ${String((error as Error).message).split('\n')[0] ?? ''}`);
    return null;
  }
};

const untilAnswers = async (url: string, server: ChildProcess): Promise<void> => {
  for (let tries = 0; tries < 200; tries += 1) {
    if (server.exitCode !== null) break;
    if (
      await fetch(url).then(
        (answer) => answer.ok,
        () => false,
      )
    )
      return;
    await wait(50);
  }
  throw new Error('toxiproxy does not answer');
};

const call = async (url: string, method: string, body?: unknown): Promise<unknown> => {
  const answer = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok)
    throw new Error(`toxiproxy ${method} ${url}: ${answer.status} ${await answer.text()}`);
  return answer.status === 204 ? null : answer.json();
};
