const { spawnSync } = require('node:child_process');
const { accessSync, constants, statSync } = require('node:fs');
const { homedir } = require('node:os');
const path = require('node:path');

const requirements = require('./requirements.json');

/** The full path of a program on the PATH, or undefined. Nothing is run. */
function findCommand(name, environment = process.env) {
  const folders = (environment.PATH ?? environment.Path ?? '').split(path.delimiter);
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', '.bat'] : [''];
  for (const folder of folders.filter(Boolean)) {
    for (const ending of endings) {
      const file = path.join(folder, `${name}${ending}`);
      if (isProgram(file)) return file;
    }
  }
  return undefined;
}

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/**
 * The programs that meet a requirement of requirements.json, or undefined when one is missing or
 * too old. `commands` are all needed; of `anyCommand` and `anyFile` one is enough.
 */
function findPrograms(requirement, environment = process.env) {
  if (requirement.anyCommand !== undefined) {
    const candidates = [
      ...requirement.anyCommand.map((name) => findCommand(name, environment)),
      ...[...requirement.anyFile, ...cacheFiles(requirement)].filter(isProgram),
    ];
    const found = candidates.find((file) => file !== undefined);
    return found === undefined ? undefined : [found];
  }
  const programs = requirement.commands.map((name) => findCommand(name, environment));
  if (programs.some((file) => file === undefined)) return undefined;
  const { majorMin } = requirement;
  if (majorMin !== undefined && !(readMajorVersion(programs[0]) >= majorMin)) return undefined;
  return programs;
}

/** What CI builds once for this account, so that nobody needs it on the PATH. */
function cacheFiles({ cacheFile }) {
  return cacheFile === undefined ? [] : [path.join(homedir(), '.cache', 'aivedio', cacheFile)];
}

/** `java -version` writes `openjdk version "17.0.15"`, on standard error. */
function readMajorVersion(program) {
  const { stderr } = spawnSync(program, ['-version'], { encoding: 'utf8' });
  return Number(/version "(\d+)/.exec(stderr ?? '')?.[1] ?? 0);
}

module.exports = { findPrograms, requirements };
