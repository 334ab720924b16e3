import { join } from 'node:path';
import type { Derivative } from '../../ports/media-toolkit';
import { MediaToolError } from '../../ports/media-toolkit';
import { commandFor, describeFile, hasContent, runCommand, type DeriveRun } from './derive-run';
import { fitEven, jpegFilters, sdrFilters } from './picture-filters';

const FILE_NAME = 'thumbnail.jpg';
const SIDE_MAX = 640;
const SEEK_MS_MAX = 3000;
/** Takes the first frame of which less than 95 % is darker than 24 of 255. */
const NOT_BLACK = [
  'blackframe=amount=0:threshold=24',
  'metadata=mode=select:key=lavfi.blackframe.pblack:value=95:function=less',
];

/** A JPEG of an early frame that is not black; of the very first when all are. */
export async function makeThumbnail(run: DeriveRun): Promise<Derivative> {
  const size = fitEven(run.facts, SIDE_MAX, SIDE_MAX);
  const path = join(run.workDir, FILE_NAME);
  for (const attempt of attempts(run)) {
    const filters = [
      ...sdrFilters(run.video, size, run.support),
      ...attempt.filters,
      ...jpegFilters(size),
    ];
    const command = commandFor(run, ...attempt.seek)
      .output(path)
      .videoFilters(filters.join(','))
      .outputOptions('-map', '0:v:0', '-an', '-frames:v', '1', '-q:v', '3')
      .outputOptions('-map_metadata', '-1', '-c:v', 'mjpeg', '-f', 'image2', '-update', '1');
    await runCommand(run, command);
    // ffmpeg ends well when no frame passes; then the next, less choosy attempt is made.
    if (await hasContent(path)) {
      return {
        kind: 'THUMBNAIL',
        entry: FILE_NAME,
        files: [await describeFile(run, FILE_NAME, 'image/jpeg')],
        facts: { ...size, durationMs: null, frameRate: null },
      };
    }
  }
  throw new MediaToolError('not one frame could be decoded', 'corrupt');
}

interface Attempt {
  readonly seek: readonly string[];
  readonly filters: readonly string[];
}

function attempts(run: DeriveRun): Attempt[] {
  const plain = { seek: [], filters: [] };
  if (run.facts.kind === 'image') return [plain];
  const seekMs = Math.min(SEEK_MS_MAX, (run.facts.durationMs ?? 0) / 5);
  return [
    { seek: ['-ss', (seekMs / 1000).toFixed(3)], filters: NOT_BLACK },
    { seek: [], filters: NOT_BLACK },
    plain,
  ];
}
