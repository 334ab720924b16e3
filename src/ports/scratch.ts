import type { Readable } from 'node:stream';

/** A private temporary folder that lives as long as the call. */
export interface ScratchFolder {
  readonly path: string;
  /** Streams into a file of the folder and answers its path. Throws `ObjectTooLargeError` beyond the bound. */
  save(name: string, body: Readable, sizeBytesMax: number): Promise<string>;
  read(path: string): Readable;
}

/** Temporary space for media work. Nothing of it outlives `use`, not even when the work fails. */
export interface Scratch {
  use<T>(work: (folder: ScratchFolder) => Promise<T>): Promise<T>;
}
