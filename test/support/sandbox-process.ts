import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = resolve(__dirname, '../..');

export interface SandboxOptions {
  /** A folder of the caller's, kept at the end; by default a fresh one that `stop` removes. */
  readonly dataDir?: string;
  readonly port?: number;
  readonly apiKey?: string;
  readonly webhookSecret?: string;
  readonly concurrency?: number;
  readonly render?: 'instant' | 'real';
  readonly ffmpegPath?: string;
  /** Further arguments, as on the command line. */
  readonly args?: readonly string[];
}

export interface SandboxJob {
  readonly id: string;
  readonly status: string;
  readonly createdAt: string;
  readonly cancelRequestedAt: string | null;
  readonly request: { readonly reference: string | null; readonly prompt: string };
  readonly output: {
    readonly path: string;
    readonly sha256: string;
    readonly sizeBytes: number;
  } | null;
}

export interface SandboxCharge {
  readonly job_id: string | null;
  readonly reference: string | null;
  readonly amount: string;
  readonly currency: string;
}

export interface SandboxRequests {
  readonly total: number;
  readonly by_reference: Readonly<Record<string, number>>;
}

export interface SandboxDelivery {
  readonly webhook_id: string;
  readonly tries: number;
  readonly outcome: string;
}

/** The sandbox provider as a process of its own; its logs are the witness independent of the product. */
export interface SandboxProcess {
  readonly url: string;
  readonly apiKey: string;
  readonly webhookSecret: string;
  readonly dataDir: string;
  readonly pid: number;
  jobs(): Promise<SandboxJob[]>;
  charges(): Promise<SandboxCharge[]>;
  requests(): Promise<SandboxRequests>;
  callbacks(): Promise<SandboxDelivery[]>;
  /** Faults for the next creates that ask for none themselves. */
  queueFaults(next: readonly unknown[]): Promise<void>;
  /** Ends it with SIGTERM, resolves with its exit code, and removes the data it made itself. */
  stop(): Promise<number | null>;
  /** Ends it with SIGKILL and keeps the data. */
  kill(): Promise<void>;
}

export async function startSandbox(options: SandboxOptions = {}): Promise<SandboxProcess> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'aivedio-sandbox-')));
  const apiKey = options.apiKey ?? 'sandbox-test-key';
  const webhookSecret =
    options.webhookSecret ?? `whsec_${Buffer.alloc(32, 'sandbox').toString('base64')}`;
  const child = spawn(
    process.execPath,
    [
      ...programOf(),
      ...['--port', String(options.port ?? 0), '--data', dataDir, '--api-key', apiKey],
      ...['--webhook-secret', webhookSecret, '--render', options.render ?? 'instant'],
      ...(options.concurrency === undefined ? [] : ['--concurrency', String(options.concurrency)]),
      ...(options.ffmpegPath === undefined ? [] : ['--ffmpeg', options.ffmpegPath]),
      ...(options.args ?? []),
    ],
    { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  const url = await Promise.race([
    readUrl(child.stdout),
    exited.then((code) => {
      throw new Error(`the sandbox ended with ${code} before it was ready`);
    }),
  ]);
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const read = async <T>(path: string): Promise<T> => {
    const answer = await fetch(`${url}/_admin/${path}`, { headers });
    if (!answer.ok) throw new Error(`/_admin/${path} answered ${answer.status}`);
    return (await answer.json()) as T;
  };
  const list = async <T>(path: string): Promise<T[]> => (await read<{ data: T[] }>(path)).data;
  return {
    url,
    apiKey,
    webhookSecret,
    dataDir,
    pid: child.pid ?? 0,
    jobs: () => list('jobs'),
    charges: () => list('charges'),
    requests: () => read('requests'),
    callbacks: () => list('callbacks'),
    queueFaults: async (next) => {
      const body = JSON.stringify({ next });
      const answer = await fetch(`${url}/_admin/faults`, { method: 'POST', headers, body });
      if (!answer.ok) throw new Error(`/_admin/faults answered ${answer.status}`);
    },
    stop: async () => {
      child.kill('SIGTERM');
      const code = await exited;
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
      return code;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** The compiled program where it is newer than every source, else the sources themselves. */
function programOf(): string[] {
  const compiled = join(ROOT, 'dist/sandbox/main.js');
  const sources = readdirSync(join(ROOT, 'sandbox')).filter((name) => name.endsWith('.ts'));
  const isFresh =
    existsSync(compiled) &&
    sources.every((name) => {
      const built = join(ROOT, 'dist/sandbox', name.replace(/\.ts$/, '.js'));
      const source = join(ROOT, 'sandbox', name);
      return existsSync(built) && statSync(built).mtimeMs >= statSync(source).mtimeMs;
    });
  if (isFresh) return [compiled];
  return ['--require', '@swc-node/register', join(ROOT, 'sandbox/main.ts')];
}

async function readUrl(stdout: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stdout })) {
    const message = JSON.parse(line) as { ready?: boolean; url?: string };
    if (message.ready === true && message.url !== undefined) return message.url;
  }
  throw new Error('the sandbox closed its output before it was ready');
}
