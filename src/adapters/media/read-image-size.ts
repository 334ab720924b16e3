import type { FileHandle } from 'node:fs/promises';
import type { PictureSize } from './header';

/** A JPEG may carry much metadata before its frame header, but not without end. */
const JPEG_SEGMENTS_MAX = 2000;

export async function readPngSize(file: FileHandle): Promise<PictureSize | null> {
  const bytes = await readAt(file, 0, 24);
  if (bytes.length < 24 || bytes.toString('latin1', 12, 16) !== 'IHDR') return null;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

export async function readJpegSize(
  file: FileHandle,
  sizeBytes: number,
): Promise<PictureSize | null> {
  let offset = 2;
  for (let count = 0; count < JPEG_SEGMENTS_MAX && offset < sizeBytes; count += 1) {
    const bytes = await readAt(file, offset, 9);
    if (bytes.length < 9 || bytes[0] !== 0xff) return null;
    const marker = bytes[1] ?? 0;
    if (marker === 0xff) {
      offset += 1;
    } else if (isFrameHeader(marker)) {
      return { height: bytes.readUInt16BE(5), width: bytes.readUInt16BE(7) };
    } else if (marker === 0xd9 || marker === 0xda) {
      return null;
    } else {
      offset += 2 + bytes.readUInt16BE(2);
    }
  }
  return null;
}

export async function readWebpSize(file: FileHandle): Promise<PictureSize | null> {
  const bytes = await readAt(file, 0, 30);
  if (bytes.length < 30) return null;
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const packed = bytes.readUInt32LE(21);
      return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
    }
    default:
      return null;
  }
}

/** SOF0 to SOF15 without the three markers of that range that are something else. */
function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
  return buffer.subarray(0, bytesRead);
}
