import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Derivative } from '../../ports/media-toolkit';
import { commandFor, describeFile, hasContent, runCommand, type DeriveRun } from './derive-run';
import { MediaToolError } from '../../ports/media-toolkit';
import { fitEven, jpegFilters, sdrFilters } from './picture-filters';
import type { PictureSize } from './header';

const SHEET_NAME = 'storyboard.jpg';
const INDEX_NAME = 'storyboard.vtt';
const TILE_SIDE_MAX = 160;
const TILES_MAX = 60;
const COLUMNS_MAX = 10;
const INTERVAL_MS_MIN = 1000;

export interface StoryboardPlan {
  readonly intervalMs: number;
  readonly tiles: number;
  readonly columns: number;
  readonly rows: number;
}

/** One JPEG sheet of small frames at equal times, and a WebVTT index of where each one is. */
export async function makeStoryboard(run: DeriveRun): Promise<Derivative> {
  // Audio may outlast the pictures; the tiles follow the pictures.
  const durationMs = run.video.durationMs ?? run.facts.durationMs ?? 0;
  const plan = planStoryboard(durationMs);
  const tile = fitEven(run.facts, TILE_SIDE_MAX, TILE_SIDE_MAX);
  await runCommand(run, buildCommand(run, plan, tile));
  if (!(await hasContent(join(run.workDir, SHEET_NAME)))) {
    throw new MediaToolError('not one frame could be decoded', 'corrupt');
  }
  await writeFile(join(run.workDir, INDEX_NAME), writeIndex(plan, tile, durationMs));
  return {
    kind: 'STORYBOARD',
    entry: INDEX_NAME,
    files: [
      await describeFile(run, INDEX_NAME, 'text/vtt'),
      await describeFile(run, SHEET_NAME, 'image/jpeg'),
    ],
    facts: {
      width: tile.width * plan.columns,
      height: tile.height * plan.rows,
      durationMs,
      frameRate: null,
    },
  };
}

export function planStoryboard(durationMs: number): StoryboardPlan {
  const intervalMs = Math.max(INTERVAL_MS_MIN, Math.ceil(durationMs / TILES_MAX));
  const tiles = Math.max(1, Math.ceil(durationMs / intervalMs));
  const columns = Math.min(COLUMNS_MAX, tiles);
  return { intervalMs, tiles, columns, rows: Math.ceil(tiles / columns) };
}

function buildCommand(
  run: DeriveRun,
  plan: StoryboardPlan,
  tile: PictureSize,
): ReturnType<typeof commandFor> {
  const filters = [
    'setpts=PTS-STARTPTS',
    `select='gte(t,selected_n*${plan.intervalMs / 1000})'`,
    ...sdrFilters(run.video, tile, run.support),
    ...jpegFilters(tile),
    `tile=${plan.columns}x${plan.rows}`,
  ];
  return commandFor(run)
    .output(join(run.workDir, SHEET_NAME))
    .videoFilters(filters.join(','))
    .outputOptions('-map', '0:v:0', '-an', '-frames:v', '1', '-q:v', '5', '-vsync', '0')
    .outputOptions('-map_metadata', '-1', '-c:v', 'mjpeg', '-f', 'image2', '-update', '1');
}

function writeIndex(plan: StoryboardPlan, tile: PictureSize, durationMs: number): string {
  const cues = Array.from({ length: plan.tiles }, (_, index) => {
    const startMs = index * plan.intervalMs;
    const endMs =
      index === plan.tiles - 1 ? Math.max(durationMs, startMs + 1) : startMs + plan.intervalMs;
    const x = (index % plan.columns) * tile.width;
    const y = Math.floor(index / plan.columns) * tile.height;
    const place = `${SHEET_NAME}#xywh=${x},${y},${tile.width},${tile.height}`;
    return `${formatTime(startMs)} --> ${formatTime(endMs)}\n${place}\n`;
  });
  return ['WEBVTT\n', ...cues].join('\n');
}

function formatTime(timeMs: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const fraction = String(Math.round(timeMs) % 1000).padStart(3, '0');
  return `${two(timeMs / 3_600_000)}:${two((timeMs / 60_000) % 60)}:${two((timeMs / 1000) % 60)}.${fraction}`;
}
