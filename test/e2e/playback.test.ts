import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { TERMINAL_STATUSES, startProduct, type RunningProduct } from '../support/running-product';
import { startPlayer, type Played } from '../support/player-page';
import { describeIfAvailable } from '../support/requirements';

const run = promisify(execFile);

/** Red, green, blue and white quarters: a picture whose way up can be told. */
const QUARTERS = {
  red: [200, 30, 30],
  green: [30, 170, 60],
  blue: [40, 60, 200],
  white: [235, 235, 235],
} as const;

const drawQuarters = async (file: string): Promise<void> => {
  const colour = ([r, g, b]: readonly number[]): string =>
    `0x${[r, g, b].map((each) => (each ?? 0).toString(16).padStart(2, '0')).join('')}`;
  const source = (value: readonly number[]) => [
    '-f',
    'lavfi',
    '-i',
    `color=c=${colour(value)}:s=320x180`,
  ];
  await run('ffmpeg', [
    ...['-v', 'error', '-y'],
    ...Object.values(QUARTERS).flatMap(source),
    ...['-filter_complex', '[0][1]hstack[a];[2][3]hstack[b];[a][b]vstack'],
    ...['-frames:v', '1', file],
  ]);
};

const nearest = (rgb: readonly number[]): string =>
  Object.entries(QUARTERS)
    .map(
      ([name, wanted]) =>
        [name, wanted.reduce((sum, each, i) => sum + (each - (rgb[i] ?? 0)) ** 2, 0)] as const,
    )
    .sort(([, a], [, b]) => a - b)[0]?.[0] ?? 'nothing';

describeIfAvailable('chromium', 'a generated video in a browser', () => {
  let product: RunningProduct;
  let player: Awaited<ReturnType<typeof startPlayer>>;
  let playback: { url: string; hlsUrl: string | null };

  beforeAll(async () => {
    [product, player] = await Promise.all([startProduct(), startPlayer()]);
    const picture = path.join(product.dataDir, 'quarters.png');
    await drawQuarters(picture);
    const imageAssetId = await product.upload(picture);
    const id = await product.create({ imageAssetId, durationMs: 3000, resolution: '720p' });
    await product.untilStatus(id, TERMINAL_STATUSES, 90_000);
    const report = await product.report(id);
    if (report.playback === null)
      throw new Error(`Nothing to play: ${JSON.stringify(report.failure)}`);
    playback = report.playback;
  }, 180_000);

  afterAll(async () => {
    await player.stop();
    await product.stop();
  }, 60_000);

  const expectPlayed = (played: Played): void => {
    expect({ width: played.width, height: played.height }).toEqual({ width: 1280, height: 720 });
    expect(played.durationS).toBeGreaterThan(2.8);
    expect(played.playedS).toBeGreaterThan(2.8);
    expect(played.audioBytes).toBeGreaterThan(0);
    expect(played.videoBytes).toBeGreaterThan(0);
    expect(played.quadrants.map(nearest)).toEqual(['red', 'green', 'blue', 'white']);
  };

  test('the MP4 plays to its end, upright and with sound', async () => {
    expectPlayed(await player.play(playback.url));
  }, 60_000);

  test('the HLS plays to its end, upright and with sound', async () => {
    expect(playback.hlsUrl).not.toBeNull();
    expectPlayed(await player.play(playback.hlsUrl ?? ''));
  }, 60_000);
});
