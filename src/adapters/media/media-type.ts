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

export const MAGIC_BYTES = 64;

/**
 * Tells the type by magic number from the first `MAGIC_BYTES` bytes, or null for all else: text,
 * playlists, manifests, concat scripts and formats that are not accepted.
 */
export function detectMediaType(start: Buffer): MediaMime | null {
  if (start.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) return 'image/jpeg';
  if (start.subarray(0, 8).equals(PNG_SIGNATURE)) return 'image/png';
  if (asciiAt(start, 0, 4) === 'RIFF' && asciiAt(start, 8, 4) === 'WEBP') return 'image/webp';
  if (start.subarray(0, 4).equals(EBML_SIGNATURE)) return detectMatroskaType(start);
  return detectIsoType(start);
}

export async function readMagic(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC_BYTES), 0, MAGIC_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const EBML_SIGNATURE = Buffer.from([0x1a, 0x45, 0xdf, 0xa3]);
/** Brands of `ftyp` that name a still-image or audio-only file. */
const FOREIGN_BRANDS = /^(avi[fs]|mif1|msf1|hei[cmsx]|hev[cmsx]|crx |jp[2mx] |M4[ABP] |F4[AB] )$/;
/** Boxes with which a QuickTime file older than `ftyp` begins. */
const OLD_QUICKTIME_BOXES = new Set(['moov', 'mdat', 'wide', 'free', 'skip', 'pnot']);

function detectIsoType(start: Buffer): MediaMime | null {
  const box = asciiAt(start, 4, 4);
  if (OLD_QUICKTIME_BOXES.has(box)) return 'video/quicktime';
  if (box !== 'ftyp' || start.length < 12 || start.readUInt32BE(0) < 12) return null;
  const brand = asciiAt(start, 8, 4);
  if (FOREIGN_BRANDS.test(brand)) return null;
  return brand === 'qt  ' ? 'video/quicktime' : 'video/mp4';
}

function detectMatroskaType(start: Buffer): MediaMime | null {
  // DocType is element 0x4282; one length byte follows, then the name.
  const at = start.indexOf(Buffer.from([0x42, 0x82]));
  return at >= 0 && asciiAt(start, at + 3, 4) === 'webm' ? 'video/webm' : null;
}

function asciiAt(bytes: Buffer, offset: number, length: number): string {
  return bytes.subarray(offset, offset + length).toString('latin1');
}
