import type { FileHandle } from 'node:fs/promises';
import type { Header, PictureSize } from './header';

interface Box {
  readonly type: string;
  readonly contentStart: number;
  readonly end: number;
}

const BOXES_MAX = 20_000;
const CONTAINERS = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl']);
const SAMPLE_ENTRY_BYTES = 36;

/**
 * Walks the boxes of an MP4 or QuickTime file. The file is at fault when a box reaches beyond its
 * end (the transfer was cut) or when it has no `moov`.
 */
export async function readIsoHeader(file: FileHandle, sizeBytes: number): Promise<Header> {
  const walk: Walk = { file, boxesLeft: BOXES_MAX, size: null, fault: null };
  const types = new Set<string>();
  await walkBoxes(walk, 0, sizeBytes, types);
  if (walk.fault === null && !types.has('moov')) walk.fault = 'there is no moov box';
  return { size: walk.size, fault: walk.fault };
}

interface Walk {
  readonly file: FileHandle;
  boxesLeft: number;
  size: PictureSize | null;
  fault: string | null;
}

async function walkBoxes(walk: Walk, from: number, to: number, seen: Set<string>): Promise<void> {
  let offset = from;
  while (offset < to && walk.fault === null) {
    const box = await readBox(walk, offset, to);
    if (box === null) return;
    seen.add(box.type);
    if (CONTAINERS.has(box.type)) await walkBoxes(walk, box.contentStart, box.end, seen);
    else if (box.type === 'stsd') await readSampleEntries(walk, box);
    offset = box.end;
  }
}

async function readBox(walk: Walk, offset: number, to: number): Promise<Box | null> {
  const bytes = await readAt(walk.file, offset, 16);
  // QuickTime ends some containers with four zero bytes; trailing bytes cannot be a box.
  if (to - offset < 8 || bytes.length < 8) return null;
  walk.boxesLeft -= 1;
  if (walk.boxesLeft < 0) return faulty(walk, 'there are too many boxes');
  const type = bytes.toString('latin1', 4, 8);
  let headerBytes = 8;
  let length = bytes.readUInt32BE(0);
  if (length === 1 && bytes.length >= 16) {
    headerBytes = 16;
    length = Number(bytes.readBigUInt64BE(8));
  } else if (length === 0) {
    length = to - offset;
  }
  if (length < headerBytes) return faulty(walk, `box ${printable(type)} has an impossible length`);
  if (offset + length > to) return faulty(walk, `box ${printable(type)} is cut short`);
  return { type, contentStart: offset + headerBytes, end: offset + length };
}

/** Every visual sample entry holds its width and height at fixed places. */
async function readSampleEntries(walk: Walk, stsd: Box): Promise<void> {
  let offset = stsd.contentStart + 8;
  while (offset + SAMPLE_ENTRY_BYTES <= stsd.end) {
    const entry = await readAt(walk.file, offset, SAMPLE_ENTRY_BYTES);
    if (entry.length < SAMPLE_ENTRY_BYTES) return;
    const length = entry.readUInt32BE(0);
    if (length < 16) return;
    if (VISUAL_ENTRIES.test(entry.toString('latin1', 4, 8))) {
      const claimed = { width: entry.readUInt16BE(32), height: entry.readUInt16BE(34) };
      walk.size = largerOf(walk.size, claimed);
    }
    offset += length;
  }
}

/** Coding names of video sample entries; an audio entry has other fields at the same places. */
const VISUAL_ENTRIES =
  /^(avc[1-4]|hev1|hvc1|dvh[1e]|dva[1v]|av01|vp0[89]|mp4v|s263|h263|encv|ap[cr4][hnsox4]|jpeg|mjp[2ab]|png |raw |rle |SVQ[13]|DIV[X3]|XVID|CFHD|AVd[nh1]|v210|2vuy|mx[35][np])$/;

function largerOf(one: PictureSize | null, other: PictureSize): PictureSize {
  return one !== null && one.width * one.height >= other.width * other.height ? one : other;
}

function faulty(walk: Walk, fault: string): null {
  walk.fault = fault;
  return null;
}

function printable(type: string): string {
  return type.replace(/[^ -~]/g, '?');
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
  return buffer.subarray(0, bytesRead);
}
