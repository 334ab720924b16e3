import type { Derivative, MediaFacts } from '../src/ports/media-toolkit';

/** What ffprobe would say of the clip that stands in for a provider's output, in benchmarks and under chaos. */
export const INSTANT_FACTS: MediaFacts = {
  mime: 'video/mp4',
  kind: 'video',
  width: 854,
  height: 480,
  rotation: 0,
  durationMs: 2_000,
  frameRate: { numerator: 24, denominator: 1 },
  videoCodec: 'h264',
  audioCodec: 'aac',
  pixelFormat: 'yuv420p',
  colorTransfer: 'bt709',
};

/** The clip as its own proxy: the one derivative that decides over a generation. */
export const instantProxy = (file: {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}): Derivative => ({
  kind: 'PROXY',
  entry: 'proxy.mp4',
  files: [{ name: 'proxy.mp4', contentType: 'video/mp4', ...file }],
  facts: {
    width: INSTANT_FACTS.width,
    height: INSTANT_FACTS.height,
    durationMs: INSTANT_FACTS.durationMs,
    frameRate: INSTANT_FACTS.frameRate,
  },
});
