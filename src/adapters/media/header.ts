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
