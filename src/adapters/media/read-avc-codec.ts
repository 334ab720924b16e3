import { open } from 'node:fs/promises';
import { MediaToolError } from '../../ports/media-toolkit';

/** The parameter set stands in the first packets; so much of the segment is read. */
const START_BYTES = 64 * 188;
const SPS_START = Buffer.from([0x00, 0x00, 0x01, 0x67]);

/**
 * The codec of an MPEG-TS segment as RFC 6381 writes it, e.g. `avc1.4d401f`: the three bytes after
 * the start of the sequence parameter set. Read here, since some builds of ffprobe crash on TS.
 */
export async function readAvcCodec(segmentPath: string): Promise<string> {
  const file = await open(segmentPath, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0);
    const at = buffer.subarray(0, bytesRead).indexOf(SPS_START);
    if (at < 0) throw new MediaToolError('a segment has no parameter set at its start', 'tool');
    const bytes = buffer.subarray(at + SPS_START.length, at + SPS_START.length + 3);
    return `avc1.${bytes.toString('hex')}`;
  } finally {
    await file.close();
  }
}
