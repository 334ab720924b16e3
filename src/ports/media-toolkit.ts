/** A frame rate as an exact fraction, e.g. 30000/1001. */
export interface FrameRate {
  readonly numerator: number;
  readonly denominator: number;
}

/** What was found in a media file by reading it, never by its name or declared type. */
export interface MediaFacts {
  /** By magic number: `image/jpeg`, `image/png`, `image/webp`, `video/mp4`, `video/webm`, `video/quicktime`. */
  readonly mime: string;
  readonly kind: 'image' | 'video';
  /** Pixels as displayed, after rotation. */
  readonly width: number;
  readonly height: number;
  /** Degrees clockwise that the container asks a player to turn the picture: 0, 90, 180 or 270. */
  readonly rotation: number;
  /** Null for an image. */
  readonly durationMs: number | null;
  readonly frameRate: FrameRate | null;
  readonly videoCodec: string | null;
  readonly audioCodec: string | null;
  readonly pixelFormat: string | null;
  /** `bt709`, `smpte2084` (PQ), `arib-std-b67` (HLG), …; null where the file does not say. */
  readonly colorTransfer: string | null;
}

export interface MediaLimits {
  readonly sizeBytesMax: number;
  readonly widthMax: number;
  readonly heightMax: number;
  readonly pixelsMax: number;
  readonly durationMsMax: number;
  readonly frameRateMax: number;
}

/** Why a file is not accepted. The code is stable and public. */
export type MediaRefusal =
  | 'EMPTY_FILE'
  | 'UNSUPPORTED_TYPE'
  | 'CORRUPT_MEDIA'
  | 'RESOLUTION_TOO_LARGE'
  | 'DURATION_TOO_LONG'
  | 'FRAME_RATE_TOO_HIGH'
  | 'FILE_TOO_LARGE'
  | 'NO_VIDEO_STREAM';

export type ProbeResult =
  | { readonly ok: true; readonly facts: MediaFacts }
  | { readonly ok: false; readonly refusal: MediaRefusal; readonly detail: string };

/** One file written by the toolkit into its output folder. */
export interface DerivedFile {
  /** Path relative to the output folder; the object-key suffix, e.g. `hls/master.m3u8`. */
  readonly name: string;
  readonly path: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

export type DerivativeKind = 'PROXY' | 'HLS' | 'THUMBNAIL' | 'STORYBOARD' | 'WAVEFORM';

export interface Derivative {
  readonly kind: DerivativeKind;
  /** The file a player or viewer opens first (e.g. the HLS master playlist). */
  readonly entry: string;
  readonly files: readonly DerivedFile[];
  readonly facts: {
    readonly width: number | null;
    readonly height: number | null;
    readonly durationMs: number | null;
    readonly frameRate: FrameRate | null;
  };
}

export class MediaToolError extends Error {
  constructor(
    message: string,
    /** `corrupt`: the input is to blame, a retry cannot help. `tool`: the tool failed or timed out. */
    readonly cause_kind: 'corrupt' | 'tool' | 'timeout' | 'cancelled',
  ) {
    super(message);
  }
}

/**
 * Reads and derives media with ffmpeg and ffprobe.
 *
 * Contract, checked by test/contract/media-toolkit:
 * - `probe` decides by magic number first and refuses playlists, manifests and concat scripts before
 *   any decoder opens them (a demuxer is forced from the magic number and the protocol whitelist is
 *   `file` only). Bounds are judged from the header, before any frame is decoded.
 * - `derive` makes one derivative kind into `outputDir`, with argument arrays and never a shell;
 *   output is even-sized, yuv420p, upright (rotation applied, no rotation tag left). It is
 *   re-entrant: files of an earlier broken run in `outputDir` are replaced.
 *   PROXY: H.264/AAC MP4, index at the front. HLS: CMAF or TS segments, each starting on a key
 *   frame, with a master playlist that states CODECS, RESOLUTION and BANDWIDTH. THUMBNAIL: JPEG of
 *   a frame that is not black when there is one. WAVEFORM: JSON peaks `{version, sampleRate,
 *   samplesPerPeak, peaks: number[] in 0..1}`, null when there is no audio. STORYBOARD: a JPEG sheet
 *   and a WebVTT index.
 * - Every run ends: at the time limit or on `signal` the whole process group is killed and reaped,
 *   and the promise rejects with `MediaToolError`. No temporary file outlives the call.
 */
export interface MediaToolkit {
  probe(path: string, limits: MediaLimits): Promise<ProbeResult>;
  derive(
    kind: DerivativeKind,
    input: { readonly path: string; readonly facts: MediaFacts },
    outputDir: string,
    options: { readonly timeLimitMs: number; readonly signal?: AbortSignal },
  ): Promise<Derivative | null>;
}
