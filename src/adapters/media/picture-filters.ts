import type { PictureSize } from './header';
import type { VideoStream } from './read-streams';

/** Tags of every encoded output; the filters below bring the picture to just this. */
export const SDR_TAGS = [
  ...['-color_primaries', 'bt709', '-color_trc', 'bt709'],
  ...['-colorspace', 'bt709', '-color_range', 'tv'],
] as const;

/** Diffuse white of HDR by ITU-R BT.2408, and the brightest light that is told apart. */
const REFERENCE_WHITE_NITS = 203;
const PEAK_NITS = 1000;

/** The tone-mapping filters that this build of ffmpeg has. */
export interface FilterSupport {
  readonly toneMapping: boolean;
}

/**
 * Filters that turn a decoded, already upright picture into `size`, SDR, bt709, limited range,
 * 4:2:0, square pixels. ffmpeg applies the display matrix before these.
 */
export function sdrFilters(
  video: VideoStream,
  size: PictureSize,
  support: FilterSupport,
): string[] {
  const wide = isWideGamut(video);
  return [
    ...(video.interlaced ? ['yadif=deint=interlaced'] : []),
    ...(wide && support.toneMapping ? toBt709(video) : []),
    scale(size, wide && support.toneMapping ? 'bt709' : matrixOf(video), 'bt709', 'tv'),
    'format=yuv420p',
    'setsar=1',
  ];
}

/** After `sdrFilters`: JPEG is full range with the matrix of BT.601. */
export function jpegFilters(size: PictureSize): string[] {
  return [scale(size, 'bt709', 'bt601', 'pc'), 'format=yuvj420p'];
}

function isHdr(video: VideoStream): boolean {
  return video.colorTransfer === 'smpte2084' || video.colorTransfer === 'arib-std-b67';
}

export function isWideGamut(video: VideoStream): boolean {
  return isHdr(video) || video.colorPrimaries === 'bt2020';
}

/** Fits `size` into a box given by its short and long side; never enlarges; sides are even. */
export function fitEven(size: PictureSize, shortMax: number, longMax: number): PictureSize {
  const short = Math.min(size.width, size.height);
  const long = Math.max(size.width, size.height);
  const factor = Math.min(1, shortMax / short, longMax / long);
  return { width: toEven(size.width * factor), height: toEven(size.height * factor) };
}

function toEven(pixels: number): number {
  return Math.max(2, 2 * Math.floor(pixels / 2 + 1e-6));
}

function toBt709(video: VideoStream): string[] {
  const primaries = video.colorPrimaries ?? 'bt2020';
  const matrix = video.colorMatrix ?? 'bt2020nc';
  const transfer = video.colorTransfer ?? 'bt709';
  const input = `tin=${transfer}:pin=${zscaleName(primaries)}:min=${zscaleName(matrix)}`;
  const output = 'zscale=p=bt709:t=bt709:m=bt709:r=tv';
  if (!isHdr(video)) return [`zscale=${input}:p=bt709:t=bt709:m=bt709:r=tv`];
  return [
    // The tone mapper wants linear light in floats; the gamut is narrowed first so that the
    // curve works on the colours that are kept.
    `zscale=${input}:t=linear:npl=${REFERENCE_WHITE_NITS}`,
    'format=gbrpf32le',
    'zscale=p=bt709',
    // Mobius leaves middle tones as they are, so skin and brand colours keep their values.
    `tonemap=tonemap=mobius:desat=0:peak=${(PEAK_NITS / REFERENCE_WHITE_NITS).toFixed(3)}`,
    output,
  ];
}

/** zscale spells these as the tags do, but for these two. */
function zscaleName(name: string): string {
  return { bt2020nc: '2020_ncl', bt2020c: '2020_cl' }[name] ?? name;
}

/** A picture that does not state its matrix is taken as players take it: by its height. */
function matrixOf(video: VideoStream): string {
  const stated = SCALE_MATRICES[video.colorMatrix ?? ''];
  return stated ?? (video.codedHeight >= 720 ? 'bt709' : 'bt601');
}

/** The matrices that a file may state, as every version of the scale filter knows them. */
const SCALE_MATRICES: Readonly<Record<string, string>> = {
  bt709: 'bt709',
  smpte170m: 'bt601',
  bt470bg: 'bt601',
  bt2020nc: 'auto',
  bt2020c: 'auto',
};

function scale(size: PictureSize, from: string, to: string, range: string): string {
  return (
    `scale=${size.width}:${size.height}:flags=bicubic` +
    `:in_color_matrix=${from}:out_color_matrix=${to}:out_range=${range}`
  );
}
