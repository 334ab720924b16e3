import { readFile, writeFile } from 'node:fs/promises';
import type { DerivedFile } from '../../ports/media-toolkit';
import { MediaToolError } from '../../ports/media-toolkit';
import { readAvcCodec } from './read-avc-codec';
import type { PictureSize } from './header';

export interface MeasuredRendition {
  readonly folder: string;
  readonly size: PictureSize;
  readonly codecs: string;
  readonly framesPerSecond: number;
  /** Of the heaviest segment. */
  readonly peakBitsPerSecond: number;
  readonly averageBitsPerSecond: number;
}

export interface RenditionFiles {
  readonly folder: string;
  readonly size: PictureSize;
  readonly framesPerSecond: number;
  readonly hasAudio: boolean;
  readonly playlistPath: string;
  /** In the order of the playlist. */
  readonly segments: readonly DerivedFile[];
}

/** Measures what was written, so that the master playlist states facts and not intentions. */
export async function measureRendition(rendition: RenditionFiles): Promise<MeasuredRendition> {
  const { folder, size, framesPerSecond, segments } = rendition;
  const first = segments[0];
  if (!first) throw new MediaToolError('no HLS segment was written', 'corrupt');
  const durationsS = readDurations(await readFile(rendition.playlistPath, 'utf8'));
  const bits = segments.map((segment) => segment.sizeBytes * 8);
  const rates = bits.map((segmentBits, index) => segmentBits / (durationsS[index] || 1));
  const totalS = durationsS.reduce((sum, duration) => sum + duration, 0);
  const video = await readAvcCodec(first.path);
  return {
    folder,
    size,
    framesPerSecond,
    codecs: rendition.hasAudio ? `${video},mp4a.40.2` : video,
    peakBitsPerSecond: Math.ceil(Math.max(...rates)),
    averageBitsPerSecond: Math.ceil(bits.reduce((sum, one) => sum + one, 0) / (totalS || 1)),
  };
}

/** ffmpeg rounds the target duration to the nearest second, which makes 0 of a very short clip. */
export async function raiseTargetDuration(playlistPath: string): Promise<void> {
  const playlist = await readFile(playlistPath, 'utf8');
  const targetS = Math.max(1, ...readDurations(playlist).map(Math.round));
  await writeFile(
    playlistPath,
    playlist.replace(/^#EXT-X-TARGETDURATION:\d+$/m, `#EXT-X-TARGETDURATION:${targetS}`),
  );
}

export function writeMaster(renditions: readonly MeasuredRendition[]): string {
  const entries = renditions.flatMap((rendition) => {
    const attributes = [
      `BANDWIDTH=${rendition.peakBitsPerSecond}`,
      `AVERAGE-BANDWIDTH=${rendition.averageBitsPerSecond}`,
      `CODECS="${rendition.codecs}"`,
      `RESOLUTION=${rendition.size.width}x${rendition.size.height}`,
      `FRAME-RATE=${rendition.framesPerSecond.toFixed(3)}`,
    ];
    return [`#EXT-X-STREAM-INF:${attributes.join(',')}`, `${rendition.folder}/index.m3u8`];
  });
  return ['#EXTM3U', '#EXT-X-VERSION:6', '#EXT-X-INDEPENDENT-SEGMENTS', ...entries, ''].join('\n');
}

function readDurations(playlist: string): number[] {
  return [...playlist.matchAll(/^#EXTINF:([\d.]+)/gm)].map((match) => Number(match[1]));
}
