import type { FileHandle } from 'node:fs/promises';
import type { MediaMime } from './media-type';
import { readJpegSize, readPngSize, readWebpSize } from './read-image-size';
import { readIsoHeader } from './read-iso-header';

export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

export interface Header {
  /** The largest picture that the header claims; null where the header does not say it plainly. */
  readonly size: PictureSize | null;
  /** Set when the structure cannot be that of a whole file, e.g. it ends before its last box. */
  readonly fault: string | null;
}

/**
 * Reads what the file says of itself, with our own code and bounded reads, so that a claim of
 * absurd size is refused before any decoder sees the file.
 */
export async function readHeader(
  file: FileHandle,
  mime: MediaMime,
  sizeBytes: number,
): Promise<Header> {
  switch (mime) {
    case 'video/mp4':
    case 'video/quicktime':
      return readIsoHeader(file, sizeBytes);
    case 'image/png':
      return asHeader(await readPngSize(file));
    case 'image/jpeg':
      return asHeader(await readJpegSize(file, sizeBytes));
    case 'image/webp':
      return asHeader(await readWebpSize(file));
    case 'video/webm':
      return { size: null, fault: null };
  }
}

function asHeader(size: PictureSize | null): Header {
  return { size, fault: size === null ? 'the picture size is not in the header' : null };
}
