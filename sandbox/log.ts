import { closeSync, existsSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';

/**
 * An append-only file of JSON lines. Each line is handed to the operating system before `append`
 * returns, so it outlives a kill of this process; it is not synced to the disk, which a test bed
 * does not need and a bench could not afford.
 */
export class JsonLinesLog<Entry> {
  private readonly descriptor: number;

  private constructor(path: string) {
    this.descriptor = openSync(path, 'a');
  }

  /** Opens (or makes) the file and gives back what it already holds, oldest first. */
  static open<Entry>(path: string): { log: JsonLinesLog<Entry>; entries: Entry[] } {
    const entries = existsSync(path) ? readEntries<Entry>(path) : [];
    return { log: new JsonLinesLog<Entry>(path), entries };
  }

  append(entry: Entry): void {
    writeSync(this.descriptor, `${JSON.stringify(entry)}\n`);
  }

  close(): void {
    closeSync(this.descriptor);
  }
}

function readEntries<Entry>(path: string): Entry[] {
  const bytes = readFileSync(path);
  const end = bytes.lastIndexOf(0x0a) + 1;
  // A kill can leave half a line at the end; it was never acknowledged, and what is appended
  // after it would be unreadable.
  if (end < bytes.length) truncateSync(path, end);
  return bytes
    .subarray(0, end)
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry);
}
