import type { Container } from '../container';
import type { HealthPart } from './health-checks';

const MEDIA_AGE_MS = 60_000;

/** ffmpeg and ffprobe, for the processes that start them. */
export const mediaHealth = (container: Pick<Container, 'media'>): HealthPart => ({
  name: 'media-tools',
  weight: 'REQUIRED',
  // The first start of ffmpeg from a package unpacks it.
  timeLimitMs: 20_000,
  maxAgeMs: MEDIA_AGE_MS,
  check: async () => {
    await container.media();
    return { ok: true, detail: 'ffmpeg and ffprobe answer' };
  },
});
