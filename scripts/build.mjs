/**
 * Compiles src/, sandbox/, bench/, chaos/ and cluster/ to dist/ with SWC and copies everything else beside them, so
 * that `dist/src/cli.js` runs without a compiler. Only what changed is done again. Types are not
 * checked here: `npm run check:types` does.
 */
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { transformFile, version } from '@swc/core';

import { generatePrisma } from './generate-prisma.mjs';

const SOURCE_FOLDERS = ['src', 'sandbox', 'bench', 'chaos', 'cluster'];
const PARALLEL = 4;

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const dist = path.join(root, 'dist');
const stampFile = path.join(dist, '.made-with');

async function build() {
  generatePrisma();
  const stamp = createHash('sha256')
    .update(version)
    .update(await readFile(path.join(root, '.swcrc')))
    .digest('hex');
  const isSameCompiler = (await readFile(stampFile, 'utf8').catch(() => '')) === stamp;
  const files = (await Promise.all(SOURCE_FOLDERS.map(listFiles))).flat();
  const jobs = files.filter((file) => !file.endsWith('.d.ts')).map(describeJob);
  await removeLeftovers(
    new Set(jobs.flatMap(({ output, map }) => (map ? [output, map] : [output]))),
  );
  const stale = [];
  for (const job of jobs) if (!isSameCompiler || (await isStale(job))) stale.push(job);
  await runInParallel(stale, (job) => (job.map === undefined ? copyAsset(job) : compile(job)));
  await mkdir(dist, { recursive: true });
  await writeFile(stampFile, stamp);
}

function describeJob(file) {
  const source = path.join(root, file);
  if (!file.endsWith('.ts')) return { source, output: path.join(dist, file) };
  const output = path.join(dist, file.replace(/\.ts$/, '.js'));
  return { source, output, map: `${output}.map` };
}

async function listFiles(folder) {
  const entries = await readdir(path.join(root, folder), {
    recursive: true,
    withFileTypes: true,
  }).catch((error) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));
}

async function isStale({ source, output }) {
  const made = await stat(output).catch(() => undefined);
  return made === undefined || made.mtimeMs < (await stat(source)).mtimeMs;
}

async function compile({ source, output, map }) {
  const sourceFileName = path.relative(path.dirname(output), source);
  const result = await transformFile(source, { cwd: root, sourceFileName });
  await write(map, result.map ?? '{}');
  await write(output, `${result.code}\n//# sourceMappingURL=${path.basename(map)}\n`);
}

async function copyAsset({ source, output }) {
  await mkdir(path.dirname(output), { recursive: true });
  await copyFile(source, output);
}

/** Another build may run at the same time, and a program may be loading the file. */
async function write(file, content) {
  const draft = `${file}.${process.pid}.tmp`;
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(draft, content);
  await rename(draft, file);
}

/** A file whose source is gone would otherwise still be found by the programs. */
async function removeLeftovers(expected) {
  for (const folder of SOURCE_FOLDERS) {
    for (const file of await listFiles(path.join('dist', folder))) {
      const absolute = path.join(root, file);
      if (!expected.has(absolute) && !file.endsWith('.tmp')) await rm(absolute, { force: true });
    }
  }
}

async function runInParallel(jobs, work) {
  const queue = [...jobs];
  const worker = async () => {
    for (let job = queue.pop(); job !== undefined; job = queue.pop()) await work(job);
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
}

await build();
