import type { Readable } from 'node:stream';

/** A file of the folder, with the digest of the bytes that went into it. */
export interface SavedFile {
  readonly path: string;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** A private temporary folder that lives as long as the call. */
export interface ScratchFolder {
  readonly path: string;
  /** Streams into a file of the folder. Throws `ObjectTooLargeError` beyond the bound. */
  save(name: string, body: Readable, sizeBytesMax: number): Promise<SavedFile>;
  read(path: string): Readable;
}

/** Temporary space for media work. Nothing of it outlives `use`, not even when the work fails. */
export interface Scratch {
  use<T>(work: (folder: ScratchFolder) => Promise<T>): Promise<T>;
}
