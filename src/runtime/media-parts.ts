import path from 'node:path';

import { isOlderThan, locateMediaTools } from '../adapters/media/locate-ffmpeg';
import { createMediaToolkit } from '../adapters/media/media-toolkit';
import { createTempFolders } from '../adapters/scratch/temp-folders';
import type { Log } from '../ports/log';
import type { MediaLimits, MediaToolkit } from '../ports/media-toolkit';
import type { Scratch } from '../ports/scratch';
import type { Config } from './config';

export interface MediaParts {
  readonly toolkit: MediaToolkit;
  readonly scratch: Scratch;
  readonly limits: MediaLimits;
}

/** Decoders older than this have known holes that uploads can reach. */
export const FFMPEG_VERSION_MIN = '5.1';

const LIMITS: MediaLimits = {
  sizeBytesMax: 2 * 1024 ** 3,
  widthMax: 8_192,
  heightMax: 8_192,
  pixelsMax: 8_192 * 4_320,
  durationMsMax: 10 * 60_000,
  frameRateMax: 120,
};

export const tempDirOf = (config: Config): string => path.join(config.dataDir, 'temp');

export const createMediaParts = async (config: Config, log: Log): Promise<MediaParts> => {
  const tempDir = tempDirOf(config);
  const tools = await locateMediaTools({
    ...(config.ffmpeg === null ? {} : { ffmpegPath: config.ffmpeg }),
    ...(config.ffprobe === null ? {} : { ffprobePath: config.ffprobe }),
    cacheDir: path.join(config.dataDir, 'tools'),
  });
  if (tools.notice !== null) log.warn(tools.notice);
  if (config.production && isOlderThan(tools.version, FFMPEG_VERSION_MIN)) {
    throw new Error(
      `ffmpeg ${tools.version} is refused in production: install ${FFMPEG_VERSION_MIN} or later, or set AIVEDIO_FFMPEG and AIVEDIO_FFPROBE`,
    );
  }
  return {
    toolkit: createMediaToolkit({ ffmpeg: tools.ffmpeg, ffprobe: tools.ffprobe, tempDir }),
    scratch: createTempFolders(tempDir),
    limits: LIMITS,
  };
};
