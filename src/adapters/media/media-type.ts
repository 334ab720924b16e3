import type { FileHandle } from 'node:fs/promises';

/** The types that are accepted, each with the demuxer that ffmpeg is forced to use for it. */
export const MEDIA_TYPES = {
  'image/jpeg': { kind: 'image', demuxer: 'jpeg_pipe' },
  'image/png': { kind: 'image', demuxer: 'png_pipe' },
  'image/webp': { kind: 'image', demuxer: 'webp_pipe' },
  'video/mp4': { kind: 'video', demuxer: 'mov' },
  'video/quicktime': { kind: 'video', demuxer: 'mov' },
  'video/webm': { kind: 'video', demuxer: 'webm' },
} as const;

export type MediaMime = keyof typeof MEDIA_TYPES;

/** What file-type asks for to tell every type that it knows. */
const MAGIC_BYTES = 4100;

/**
 * Tells the type by magic number from the start of the file, or null for all else: text,
 * playlists, manifests, concat scripts and formats that are not accepted.
 */
export async function detectMediaType(file: FileHandle): Promise<MediaMime | null> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC_BYTES), 0, MAGIC_BYTES, 0);
  // An ES module only, so it cannot be imported at the top of this one.
  const { fileTypeFromBuffer } = await import('file-type');
  const mime = (await fileTypeFromBuffer(buffer.subarray(0, bytesRead)))?.mime ?? '';
  // The same container under the brand of one vendor.
  if (mime === 'video/x-m4v') return 'video/mp4';
  return isAccepted(mime) ? mime : null;
}

export function isAccepted(mime: string): mime is MediaMime {
  return Object.hasOwn(MEDIA_TYPES, mime);
}
