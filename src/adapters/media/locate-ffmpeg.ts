import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, chmod, copyFile, mkdir, rename, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

export interface MediaTools {
  /** Absolute path of an executable ffmpeg. */
  readonly ffmpeg: string;
  readonly ffprobe: string;
  /** The version that ffmpeg states of itself, e.g. `5.1.9-0+deb12u1` or `N-47683-g0e8eb07980`. */
  readonly version: string;
  readonly source: 'configured' | 'path' | 'npm';
  /** A sentence for the operator, to be printed once at start; null when all is as it should be. */
  readonly notice: string | null;
}

export interface MediaToolsWanted {
  readonly ffmpegPath?: string;
  readonly ffprobePath?: string;
  /** Where a tool is copied to when its own place does not allow making it executable. */
  readonly cacheDir: string;
  /** Folders to look in, as PATH lists them; the PATH of this process by default. */
  readonly searchPath?: string;
}

type ToolName = 'ffmpeg' | 'ffprobe';
interface FoundTool {
  readonly path: string;
  readonly version: string;
  readonly source: MediaTools['source'];
}

const runFile = promisify(execFile);
const requireHere = createRequire(__filename);
const VERSION_TIME_LIMIT_MS = 15_000;

/**
 * Finds ffmpeg and ffprobe: as configured, else on the PATH, else in the npm installer packages.
 *
 * @throws Error when a configured tool does not run (never replaced silently by another), or when
 *   no tool is found at all.
 */
export async function locateMediaTools(wanted: MediaToolsWanted): Promise<MediaTools> {
  const configured =
    wanted.ffmpegPath !== undefined || wanted.ffprobePath !== undefined ? 'configured' : null;
  const ffmpeg = await locateTool('ffmpeg', wanted.ffmpegPath, wanted);
  const ffprobe = await locateTool('ffprobe', wanted.ffprobePath, wanted);
  const fromNpm = [ffmpeg, ffprobe].filter((tool) => tool.source === 'npm');
  return {
    ffmpeg: ffmpeg.path,
    ffprobe: ffprobe.path,
    version: ffmpeg.version,
    source: configured ?? (fromNpm.length > 0 ? 'npm' : 'path'),
    notice: fromNpm.length === 0 ? null : noticeForNpm(fromNpm),
  };
}

/**
 * True when `version` is older than `minimum` (`5.1`, `6.0.1`). A development build such as
 * `N-47683-g…` has no release number, so which fixes it holds is unknown: it is judged older.
 */
export function isOlderThan(version: string, minimum: string): boolean {
  const have = releaseNumbers(version);
  const want = releaseNumbers(minimum);
  if (want === null) throw new RangeError(`not a release number: ${minimum}`);
  if (have === null) return true;
  for (const [index, wantPart] of want.entries()) {
    const havePart = have[index] ?? 0;
    if (havePart !== wantPart) return havePart < wantPart;
  }
  return false;
}

function releaseNumbers(version: string): number[] | null {
  const match = /^n?(\d+(?:\.\d+)*)/.exec(version);
  return match?.[1] === undefined ? null : match[1].split('.').map(Number);
}

async function locateTool(
  name: ToolName,
  configuredPath: string | undefined,
  wanted: MediaToolsWanted,
): Promise<FoundTool> {
  if (configuredPath !== undefined) {
    const version = await readVersion(name, configuredPath);
    return { path: configuredPath, version, source: 'configured' };
  }
  const onPath = await findOnPath(name, wanted.searchPath);
  if (onPath !== null) return { ...onPath, source: 'path' };
  const path = await makeExecutable(findInNpm(name), wanted.cacheDir);
  return { path, version: await readVersion(name, path), source: 'npm' };
}

async function findOnPath(
  name: ToolName,
  searchPath: string | undefined,
): Promise<{ path: string; version: string } | null> {
  // The shell looks the PATH up, so that the environment is not read here.
  const environment = searchPath === undefined ? {} : { env: { PATH: searchPath } };
  const found = await runFile('/bin/sh', ['-c', `command -v ${name}`], environment).catch(
    () => null,
  );
  const path = found?.stdout.trim() ?? '';
  if (!path.startsWith('/')) return null;
  const version = await readVersion(name, path).catch(() => null);
  return version === null ? null : { path, version };
}

function findInNpm(name: ToolName): string {
  const packageName = `@${name}-installer/${name}`;
  try {
    return (requireHere(packageName) as { path: string }).path;
  } catch (error) {
    throw new Error(
      `${name} is neither on the PATH nor in ${packageName}: install it or configure its path`,
      { cause: error },
    );
  }
}

async function readVersion(name: ToolName, path: string): Promise<string> {
  const { stdout } = await runFile(path, ['-version'], { timeout: VERSION_TIME_LIMIT_MS });
  const version = new RegExp(`^${name} version (\\S+)`).exec(stdout)?.[1];
  if (version === undefined) throw new Error(`${path} does not answer as ${name}`);
  return version;
}

/**
 * npm may have skipped the install script that makes the file executable. The file is made so in
 * place, else (not ours, or read-only) a copy is made in `cacheDir`, named by size so that an
 * update of the package is noticed.
 */
export async function makeExecutable(path: string, cacheDir: string): Promise<string> {
  if (await isExecutable(path)) return path;
  try {
    await chmod(path, 0o755);
    return path;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!['EPERM', 'EACCES', 'EROFS'].includes(code)) throw error;
  }
  const copy = join(cacheDir, `${basename(path)}-${(await stat(path)).size}`);
  if (await isExecutable(copy)) return copy;
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  const partial = `${copy}.${process.pid}`;
  await copyFile(path, partial);
  await chmod(partial, 0o755);
  await rename(partial, copy);
  return copy;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function noticeForNpm(tools: readonly FoundTool[]): string {
  const list = tools.map((tool) => `${tool.path} (${tool.version})`).join(' and ');
  return `Media tools are not on the PATH; using the builds from npm: ${list}. They are old: install ffmpeg for anything but a trial.`;
}
