import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { createMachineLook } from '../../../src/adapters/evidence/machine-look';
import { readSandboxLog } from '../../../src/adapters/evidence/sandbox-log';
import type { Evidence } from '../../../src/ports/verification';
import { SECRETS } from './sound-facts';

const SIGNED = 'GET http://127.0.0.1/o/x?expires=1&signature=abcdefghijklmnopqrs';
const LONG_AGO = new Date('2026-01-01T00:00:00.000Z');

let dataDir: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'aivedio-look-'));
  await Promise.all(['logs', 'temp', 'sandbox'].map((name) => mkdir(path.join(dataDir, name))));
});

afterEach(async () => {
  for (const child of children.splice(0)) {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }
  await rm(dataDir, { recursive: true, force: true });
});

const look = (running: boolean) =>
  createMachineLook({
    logs: [path.join(dataDir, 'logs')],
    scratch: [path.join(dataDir, 'temp')],
    leftBefore: new Date(Date.now() - 60_000),
    dataDir,
    running,
    ownPids: [process.pid],
  });

/** Waits for its first word, so that its command line is there to be read. */
const run = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const child = spawn(
    process.execPath,
    ['-e', 'console.log(1); setInterval(() => 0, 9e8)', ...args],
    {
      env: { ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  children.push(child);
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  return child.pid;
};

describe('a look around the machine', () => {
  it('finds nothing where nothing is wrong', async () => {
    await writeFile(path.join(dataDir, 'logs', 'api.log'), 'all is well\n');
    await mkdir(path.join(dataDir, 'temp', 'work-now'));
    expect(await look(false).findSecrets(SECRETS, 9)).toEqual([]);
    expect(await look(false).findLeftoverFiles(9)).toEqual([]);
    expect(await look(false).findLeftoverProcesses(9)).toEqual([]);
  });

  it('finds a signed URL in a log, across the border of two reads, without repeating it', async () => {
    const file = path.join(dataDir, 'logs', 'media.log');
    await writeFile(file, `${'x'.repeat(2 ** 20 - 50)}${SIGNED}\n`);
    const found = await look(false).findSecrets(SECRETS, 9);
    expect(found).toEqual([{ subject: file, detail: 'a signed URL stands in it' }]);
    expect(JSON.stringify(found)).not.toContain('abcdefgh');
  });

  it('finds scratch that nobody has touched', async () => {
    const old = path.join(dataDir, 'temp', 'work-old');
    await mkdir(old);
    await utimes(old, LONG_AGO, LONG_AGO);
    await mkdir(path.join(dataDir, 'temp', 'work-new'));
    expect(await look(false).findLeftoverFiles(9)).toEqual([
      { subject: old, detail: 'untouched since 2026-01-01T00:00:00.000Z' },
    ]);
  });

  it('finds processes that outlive the product, and leaves those of a running one alone', async () => {
    const worker = await run([], { AIVEDIO_DATA_DIR: dataDir, AIVEDIO_BELL: 'parent' });
    const tool = await run([`${dataDir}/temp/work-1/raw.mp4`]);
    const seen = async (running: boolean) =>
      (await look(running).findLeftoverProcesses(9)).map(({ subject }) => Number(subject)).sort();
    expect(await seen(false)).toEqual([worker, tool].sort());
    // Both have a living Node process as their parent: this one.
    expect(await seen(true)).toEqual([]);
  });
});

describe('the log of the sandbox', () => {
  const read = async (): Promise<Evidence[]> => {
    const evidence: Evidence[] = [];
    for await (const each of readSandboxLog(path.join(dataDir, 'sandbox'))) evidence.push(each);
    return evidence;
  };
  const write = (name: string, text: string) =>
    writeFile(path.join(dataDir, 'sandbox', name), text);

  it('may not be there yet', async () => {
    expect(await read()).toEqual([]);
  });

  it('is read up to the line that is being written', async () => {
    const at = '2026-12-01T00:00:00.000Z';
    await write('requests.jsonl', `${JSON.stringify({ at, reference: 'r1' })}\n{"at":"20`);
    await write(
      'jobs.jsonl',
      [
        { event: 'created', job: { id: 'j1', createdAt: at, request: { reference: 'r1' } } },
        { event: 'changed', id: 'j1', patch: { status: 'failed' } },
      ]
        .map((each) => JSON.stringify(each))
        .join('\n'),
    );
    await write('charges.jsonl', JSON.stringify({ id: 'c1', reference: 'r1', amount: '0.04', at }));
    const seen = { reference: 'r1', at: new Date(at) };
    expect(await read()).toEqual([
      { kind: 'post', id: null, amount: null, ...seen },
      { kind: 'job', id: 'j1', amount: null, ...seen },
      { kind: 'charge', id: 'c1', amount: '0.04', ...seen },
    ]);
  });

  it('is refused when a line in the middle is broken', async () => {
    await write('requests.jsonl', '{"at":\n{}\n');
    await expect(read()).rejects.toThrow('no JSON');
  });
});
