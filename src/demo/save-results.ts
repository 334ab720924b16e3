import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface SavedResults {
  readonly mp4: string;
  readonly hlsMaster: string | null;
}

/** Brings the MP4 and every file of the HLS folder to disk, through the same signed URLs that a player uses. */
export const saveResults = async (
  playback: { readonly url: string; readonly hlsUrl: string | null },
  outputDir: string,
  name: string,
): Promise<SavedResults> => {
  await mkdir(outputDir, { recursive: true });
  const mp4 = path.join(outputDir, `${name}.mp4`);
  await download(playback.url, mp4);
  const hlsMaster =
    playback.hlsUrl === null ? null : path.join(outputDir, `${name}-hls`, 'master.m3u8');
  if (playback.hlsUrl !== null && hlsMaster !== null)
    await savePlaylist(playback.hlsUrl, hlsMaster);
  return { mp4, hlsMaster };
};

const savePlaylist = async (url: string, target: string): Promise<void> => {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${path.basename(target)}: HTTP ${response.status}`);
  const text = await response.text();
  await mkdir(path.dirname(target), { recursive: true });
  const references = referencesOf(text);
  await writeFile(
    target,
    references.reduce((kept, each) => kept.replaceAll(each, placeOf(each)), text),
  );
  for (const reference of references) {
    const from = new URL(reference, url).href;
    const to = path.join(path.dirname(target), placeOf(reference));
    if (to.endsWith('.m3u8')) await savePlaylist(from, to);
    else await download(from, to);
  }
};

/** Another store signs each file by itself, in a whole URL: on disk it lies beside its playlist. */
const placeOf = (reference: string): string =>
  /^https?:/.test(reference) ? path.basename(new URL(reference).pathname) : reference;

/** Relative URIs of a playlist: lines that are no tags, and URI attributes of tags. */
const referencesOf = (playlist: string): string[] => {
  const lines = playlist.split(/\r?\n/);
  const plain = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const attributes = lines.flatMap((line) =>
    [...line.matchAll(/URI="([^"]+)"/g)].map((match) => match[1] ?? ''),
  );
  return [...new Set([...plain, ...attributes])].filter(
    (each) => each !== '' && !each.includes('..'),
  );
};

const download = async (url: string, target: string): Promise<void> => {
  const response = await fetch(url);
  if (!response.ok || response.body === null)
    throw new Error(`${path.basename(target)}: HTTP ${response.status}`);
  await mkdir(path.dirname(target), { recursive: true });
  await pipeline(Readable.fromWeb(response.body), createWriteStream(target));
};
