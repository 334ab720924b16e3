import { request } from 'undici';

/** ffmpeg's demuxer for each kind of still picture that is accepted. */
export type PictureDemuxer = 'png_pipe' | 'jpeg_pipe' | 'webp_pipe' | 'gif';

export interface Picture {
  readonly bytes: Buffer;
  readonly demuxer: PictureDemuxer;
  /** The turn that makes it upright, as EXIF orientation 1–8. */
  readonly orientation: number;
}

/** The picture cannot be had or is not one: the caller's input is at fault. */
export class PictureError extends Error {}

const SIZE_BYTES_MAX = 20 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** Fetches the picture of a job. Redirects are not followed. Throws PictureError. */
export async function fetchPicture(url: string, signal: AbortSignal): Promise<Picture> {
  const bytes = await download(url, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
  const demuxer = recognisePicture(bytes);
  if (demuxer === null) {
    throw new PictureError('the image is neither PNG nor JPEG nor WebP nor GIF');
  }
  return { bytes, demuxer, orientation: demuxer === 'jpeg_pipe' ? readOrientation(bytes) : 1 };
}

async function download(url: string, signal: AbortSignal): Promise<Buffer> {
  try {
    const answer = await request(url, { signal });
    if (answer.statusCode !== 200) {
      await answer.body.dump();
      throw new PictureError(`the image URL answered ${answer.statusCode}`);
    }
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length;
      if (sizeBytes > SIZE_BYTES_MAX) {
        throw new PictureError(`the image is larger than ${SIZE_BYTES_MAX} bytes`);
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof PictureError) throw error;
    throw new PictureError(`the image could not be fetched: ${(error as Error).message}`);
  }
}

/** By the first bytes alone: neither a name nor a Content-Type decides what reaches the decoder. */
export function recognisePicture(bytes: Buffer): PictureDemuxer | null {
  const head = bytes.subarray(0, 12).toString('latin1');
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'png_pipe';
  if (head.startsWith('\xff\xd8\xff')) return 'jpeg_pipe';
  if (head.startsWith('RIFF') && head.endsWith('WEBP')) return 'webp_pipe';
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'gif';
  return null;
}

/** EXIF orientation of a JPEG, 1 when it has none: phones store pictures lying on their side. */
export function readOrientation(jpeg: Buffer): number {
  let offset = 2;
  while (offset + 4 <= jpeg.length && jpeg[offset] === 0xff) {
    const marker = jpeg[offset + 1];
    const length = jpeg.readUInt16BE(offset + 2);
    if (marker === 0xda) return 1;
    const segment = jpeg.subarray(offset + 4, offset + 2 + length);
    if (marker === 0xe1 && segment.subarray(0, 6).toString('latin1') === 'Exif\0\0') {
      return orientationOfTiff(segment.subarray(6));
    }
    offset += 2 + length;
  }
  return 1;
}

function orientationOfTiff(tiff: Buffer): number {
  const little = tiff.subarray(0, 2).toString('latin1') === 'II';
  const short = (at: number): number =>
    at + 2 > tiff.length ? 0 : little ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at);
  if (tiff.length < 8) return 1;
  const directory = little ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  for (let entry = 0; entry < short(directory); entry += 1) {
    const at = directory + 2 + entry * 12;
    if (short(at) === 0x0112) {
      const orientation = short(at + 8);
      return orientation >= 1 && orientation <= 8 ? orientation : 1;
    }
  }
  return 1;
}

/** The filters that turn a picture of this EXIF orientation upright. */
export function uprightFilters(orientation: number): readonly string[] {
  const filters: Readonly<Record<number, readonly string[]>> = {
    2: ['hflip'],
    3: ['hflip', 'vflip'],
    4: ['vflip'],
    5: ['transpose=0'],
    6: ['transpose=1'],
    7: ['transpose=3'],
    8: ['transpose=2'],
  };
  return filters[orientation] ?? [];
}
