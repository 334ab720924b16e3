import { open, type FileHandle } from 'node:fs/promises';
import type { MediaFacts, MediaLimits, MediaRefusal, ProbeResult } from '../../ports/media-toolkit';
import { detectMediaType, MEDIA_TYPES, type MediaMime } from './media-type';
import type { PictureSize } from './header';
import { readHeader } from './read-header';
import { readStreams, scanDurationMs, type ProbeTarget, type VideoStream } from './read-streams';

/** Decoders round pictures up to whole blocks; that much is allowed over the limit. */
const BLOCK_PIXELS = 64;
/** No picture that is accepted, however the limits are set, may be larger for the decoders. */
const SIDE_PIXELS_MAX = 16_384;

/** Reads and judges one file: magic number, then our own header reader, then ffprobe. */
export async function probeMedia(
  ffprobe: string,
  path: string,
  limits: MediaLimits,
  timeLimitMs: number,
): Promise<ProbeResult> {
  const file = await open(path, 'r');
  try {
    const judged = await judgeBeforeDecoders(file, limits);
    if (typeof judged !== 'string') return judged;
    return await judgeStreams(
      { ffprobe, path, mime: judged, timeLimitMs, pixelsMax: decoderPixelsMax(limits) },
      limits,
    );
  } finally {
    await file.close();
  }
}

async function judgeBeforeDecoders(
  file: FileHandle,
  limits: MediaLimits,
): Promise<MediaMime | ProbeResult> {
  const { size: sizeBytes } = await file.stat();
  if (sizeBytes === 0) return refuse('EMPTY_FILE', 'the file has no bytes');
  if (sizeBytes > limits.sizeBytesMax) {
    return refuse('FILE_TOO_LARGE', `${sizeBytes} bytes, at most ${limits.sizeBytesMax}`);
  }
  const mime = await detectMediaType(file);
  if (mime === null) {
    return refuse('UNSUPPORTED_TYPE', 'the content is not MP4, MOV, WebM, JPEG, PNG or WebP');
  }
  const header = await readHeader(file, mime, sizeBytes);
  if (header.fault !== null) return refuse('CORRUPT_MEDIA', header.fault);
  return (header.size && judgeSize(header.size, limits)) ?? mime;
}

async function judgeStreams(target: ProbeTarget, limits: MediaLimits): Promise<ProbeResult> {
  const result = await readStreams(target);
  if (!result.ok) {
    return refuse(result.tooLarge ? 'RESOLUTION_TOO_LARGE' : 'CORRUPT_MEDIA', result.detail);
  }
  const { video, audioCodec } = result.streams;
  if (video === null) return refuse('NO_VIDEO_STREAM', 'there is no picture stream');
  const facts = { ...describePicture(target.mime, video), audioCodec };
  const sizeRefusal = judgeSize(facts, limits);
  if (sizeRefusal) return sizeRefusal;
  if (facts.kind === 'image') return { ok: true, facts: { ...facts, durationMs: null } };

  const durationMs = result.streams.durationMs ?? (await scanDurationMs(target));
  return judgeTime({ ...facts, durationMs }, limits);
}

function describePicture(mime: MediaMime, video: VideoStream): MediaFacts {
  const kind = MEDIA_TYPES[mime].kind;
  return {
    mime,
    kind,
    ...displaySize(video),
    rotation: video.rotation,
    durationMs: null,
    frameRate: kind === 'image' ? null : video.frameRate,
    videoCodec: video.codec,
    audioCodec: null,
    pixelFormat: video.pixelFormat,
    colorTransfer: video.colorTransfer,
  };
}

/** Pixels as a player shows them: pixel aspect applied to the width, then turned upright. */
export function displaySize(video: VideoStream): PictureSize {
  const width = Math.round(video.codedWidth * video.pixelAspect);
  const turned = video.rotation === 90 || video.rotation === 270;
  return turned
    ? { width: video.codedHeight, height: width }
    : { width, height: video.codedHeight };
}

function judgeSize(size: PictureSize, limits: MediaLimits): ProbeResult | null {
  const { width, height } = size;
  if (width < 1 || height < 1) return refuse('CORRUPT_MEDIA', 'the picture has no size');
  const tooLarge =
    width > limits.widthMax || height > limits.heightMax || width * height > limits.pixelsMax;
  return tooLarge ? refuse('RESOLUTION_TOO_LARGE', `the picture is ${width}x${height}`) : null;
}

function judgeTime(facts: MediaFacts, limits: MediaLimits): ProbeResult {
  if (facts.videoCodec === null) return refuse('UNSUPPORTED_TYPE', 'the video codec is unknown');
  if (!facts.durationMs) return refuse('CORRUPT_MEDIA', 'the video has no duration');
  if (facts.durationMs > limits.durationMsMax) {
    return refuse('DURATION_TOO_LONG', `${facts.durationMs} ms, at most ${limits.durationMsMax}`);
  }
  const rate = facts.frameRate ? facts.frameRate.numerator / facts.frameRate.denominator : 0;
  if (rate > limits.frameRateMax) {
    return refuse('FRAME_RATE_TOO_HIGH', `${rate.toFixed(2)} frames per second`);
  }
  return { ok: true, facts };
}

function decoderPixelsMax(limits: MediaLimits): number {
  const side = (pixels: number): number => Math.min(pixels, SIDE_PIXELS_MAX) + BLOCK_PIXELS;
  return side(limits.widthMax) * side(limits.heightMax);
}

function refuse(refusal: MediaRefusal, detail: string): ProbeResult {
  return { ok: false, refusal, detail };
}
