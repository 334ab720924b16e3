import { z } from 'zod';
import type { FrameRate } from '../../ports/media-toolkit';
import { MediaToolError } from '../../ports/media-toolkit';
import { MEDIA_TYPES, type MediaMime } from './media-type';
import { runTool } from './run-tool';

/** The picture stream as stored, before rotation and pixel aspect are applied. */
export interface VideoStream {
  readonly codec: string | null;
  readonly codedWidth: number;
  readonly codedHeight: number;
  /** Width of one pixel divided by its height. */
  readonly pixelAspect: number;
  /** Degrees clockwise: 0, 90, 180 or 270. */
  readonly rotation: number;
  readonly pixelFormat: string | null;
  readonly frameRate: FrameRate | null;
  readonly durationMs: number | null;
  readonly colorTransfer: string | null;
  readonly colorPrimaries: string | null;
  readonly colorMatrix: string | null;
  readonly profile: string | null;
  readonly level: number | null;
  readonly interlaced: boolean;
}

export interface Streams {
  readonly video: VideoStream | null;
  readonly audioCodec: string | null;
  readonly durationMs: number | null;
}

export type StreamsResult =
  | { readonly ok: true; readonly streams: Streams }
  | { readonly ok: false; readonly tooLarge: boolean; readonly detail: string };

export interface ProbeTarget {
  readonly ffprobe: string;
  readonly path: string;
  readonly mime: MediaMime;
  readonly timeLimitMs: number;
  /** Pictures of more pixels than this are refused by the decoders. */
  readonly pixelsMax: number;
  readonly signal?: AbortSignal;
}

/** What both tools get before an input, so that they open this one file and nothing it points at. */
export function inputGuard(mime: MediaMime, pixelsMax: number): string[] {
  return [
    ...['-protocol_whitelist', 'file'],
    ...['-max_pixels', String(pixelsMax)],
    ...['-f', MEDIA_TYPES[mime].demuxer],
  ];
}

/** Reads the stream headers with ffprobe. Throws `MediaToolError` only when the tool itself fails. */
export async function readStreams(target: ProbeTarget): Promise<StreamsResult> {
  const chunks: Buffer[] = [];
  const exit = await runTool({
    path: target.ffprobe,
    args: [
      ...['-v', 'error', '-of', 'json', '-show_streams', '-show_format'],
      ...inputGuard(target.mime, target.pixelsMax),
      `file:${target.path}`,
    ],
    timeLimitMs: target.timeLimitMs,
    onStdout: (chunk) => chunks.push(chunk),
    ...(target.signal ? { signal: target.signal } : {}),
  });
  const detail = exit.stderrTail.replaceAll(target.path, 'input').trim();
  if (exit.exitCode === null) throw new MediaToolError('ffprobe was ended by a signal', 'tool');
  // A decoder that meets an impossible size ends ffprobe before it prints anything.
  if (/Picture size \d+x\d+ is invalid|exceeds (?:the )?max_pixels/i.test(detail)) {
    return { ok: false, tooLarge: true, detail };
  }
  if (exit.exitCode !== 0) return { ok: false, tooLarge: false, detail };
  const report = REPORT.safeParse(parseJson(Buffer.concat(chunks).toString('utf8')));
  if (!report.success) return { ok: false, tooLarge: false, detail: 'no stream was found' };
  return { ok: true, streams: toStreams(report.data) };
}

/** The end of the last picture, found by reading all packets; for files that state no duration. */
export async function scanDurationMs(target: ProbeTarget): Promise<number | null> {
  let rest = '';
  let lastMs = -1;
  await runTool({
    path: target.ffprobe,
    args: [
      ...['-v', 'error', '-of', 'csv=p=0', '-select_streams', 'v:0'],
      ...['-show_entries', 'packet=pts_time'],
      ...inputGuard(target.mime, target.pixelsMax),
      `file:${target.path}`,
    ],
    timeLimitMs: target.timeLimitMs,
    onStdout: (chunk) => {
      const lines = (rest + chunk.toString('latin1')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) lastMs = Math.max(lastMs, secondsToMs(line) ?? -1);
    },
    ...(target.signal ? { signal: target.signal } : {}),
  });
  return lastMs > 0 ? lastMs : null;
}

const STREAM = z.object({
  codec_type: z.string().optional(),
  codec_name: z.string().optional(),
  width: z.number().optional(),
  height: z.number().optional(),
  sample_aspect_ratio: z.string().optional(),
  pix_fmt: z.string().optional(),
  avg_frame_rate: z.string().optional(),
  r_frame_rate: z.string().optional(),
  duration: z.string().optional(),
  color_transfer: z.string().optional(),
  color_primaries: z.string().optional(),
  color_space: z.string().optional(),
  profile: z.union([z.string(), z.number()]).optional(),
  level: z.number().optional(),
  field_order: z.string().optional(),
  disposition: z.object({ attached_pic: z.number().optional() }).optional(),
  tags: z.record(z.string(), z.string()).optional(),
  side_data_list: z.array(z.object({ rotation: z.number().optional() })).optional(),
});
const REPORT = z.object({
  streams: z.array(STREAM),
  format: z.object({ duration: z.string().optional() }).optional(),
});
type StreamReport = z.infer<typeof STREAM>;

function toStreams(report: z.infer<typeof REPORT>): Streams {
  const video = report.streams.find(
    (stream) => stream.codec_type === 'video' && stream.disposition?.attached_pic !== 1,
  );
  const audio = report.streams.find((stream) => stream.codec_type === 'audio');
  return {
    video: video ? toVideoStream(video) : null,
    audioCodec: audio ? (audio.codec_name ?? 'unknown') : null,
    durationMs: secondsToMs(report.format?.duration),
  };
}

function toVideoStream(stream: StreamReport): VideoStream {
  return {
    codec: stated(stream.codec_name),
    codedWidth: stream.width ?? 0,
    codedHeight: stream.height ?? 0,
    pixelAspect: pixelAspectOf(stream.sample_aspect_ratio),
    rotation: rotationOf(stream),
    pixelFormat: stated(stream.pix_fmt),
    frameRate: fractionOf(stream.avg_frame_rate) ?? fractionOf(stream.r_frame_rate),
    durationMs: secondsToMs(stream.duration) ?? timestampToMs(stream.tags?.['DURATION']),
    colorTransfer: stated(stream.color_transfer),
    colorPrimaries: stated(stream.color_primaries),
    colorMatrix: stated(stream.color_space),
    profile: stream.profile === undefined ? null : String(stream.profile),
    level: stream.level ?? null,
    interlaced: ['tt', 'bb', 'tb', 'bt'].includes(stream.field_order ?? ''),
  };
}

/** The display matrix is given counter-clockwise, the older `rotate` tag clockwise. */
function rotationOf(stream: StreamReport): number {
  const matrix = stream.side_data_list?.find((side) => side.rotation !== undefined)?.rotation;
  const clockwise = matrix === undefined ? Number(stream.tags?.['rotate'] ?? 0) : -matrix;
  const quarterTurns = Math.round((Number.isFinite(clockwise) ? clockwise : 0) / 90);
  return (((quarterTurns % 4) + 4) % 4) * 90;
}

function pixelAspectOf(ratio: string | undefined): number {
  const [width, height] = (ratio ?? '').split(':').map(Number);
  const aspect = (width ?? 0) / (height ?? 0);
  // A ratio beyond any real format would turn a small picture into a huge one.
  return Number.isFinite(aspect) && aspect >= 0.1 && aspect <= 10 ? aspect : 1;
}

function fractionOf(text: string | undefined): FrameRate | null {
  const [numerator, denominator] = (text ?? '').split('/').map(Number);
  if (!numerator || !denominator || numerator < 0 || denominator < 0) return null;
  return { numerator, denominator };
}

function secondsToMs(text: string | undefined): number | null {
  const seconds = Number.parseFloat(text ?? '');
  return Number.isFinite(seconds) && seconds >= 0 ? Math.round(seconds * 1000) : null;
}

function timestampToMs(text: string | undefined): number | null {
  const match = /^(\d+):(\d\d):(\d\d(?:\.\d+)?)$/.exec(text?.trim() ?? '');
  if (!match) return null;
  return Math.round((Number(match[1]) * 3600 + Number(match[2]) * 60 + Number(match[3])) * 1000);
}

function stated(value: string | undefined): string | null {
  return value === undefined || ['unknown', 'reserved', 'unspecified'].includes(value)
    ? null
    : value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // ffprobe prints an unfinished object when it gives up; the caller reports what it said.
    return null;
  }
}
