import type { FileHandle } from 'node:fs/promises';
import type { MediaMime } from './media-type';
import type { Header, PictureSize } from './header';
import { readJpegSize, readPngSize, readWebpSize } from './read-image-size';
import { readIsoHeader } from './read-iso-header';

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
