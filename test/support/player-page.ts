import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { chromium, type Browser, type Page } from 'playwright-core';

import { locateProgram } from './requirements';

/** What a browser found when it played something to its end. */
export interface Played {
  readonly width: number;
  readonly height: number;
  readonly durationS: number;
  readonly playedS: number;
  readonly audioBytes: number;
  readonly videoBytes: number;
  /** Mean red, green and blue of the four quadrants in the middle of the clip: top left, top right, bottom left, bottom right. */
  readonly quadrants: readonly (readonly [number, number, number])[];
}

const PAGE = `<!doctype html><title>player</title><video id="v" crossorigin="anonymous" playsinline></video>
<script src="/hls.js"></script>`;

/** A page of another origin than the product, as a customer's site would be. */
export const startPlayer = async (): Promise<{
  play(url: string): Promise<Played>;
  stop(): Promise<void>;
}> => {
  const server = await servePage();
  const browser = await chromium.launch({
    executablePath: locateProgram('chromium'),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--autoplay-policy=no-user-gesture-required',
    ],
  });
  const { port } = server.address() as AddressInfo;
  return {
    play: (url) => playIn(browser, `http://localhost:${port}/`, url),
    stop: async () => {
      await browser.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const servePage = (): Promise<Server> =>
  new Promise((resolve) => {
    const script = readFileSync(require.resolve('hls.js/dist/hls.min.js'));
    const server = createServer((request, response) => {
      const isScript = request.url === '/hls.js';
      response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
      response.end(isScript ? script : PAGE);
    });
    server.listen(0, 'localhost', () => resolve(server));
  });

const playIn = async (browser: Browser, origin: string, url: string): Promise<Played> => {
  const page: Page = await browser.newPage();
  try {
    await page.goto(origin);
    return await page.evaluate<Played>(`${PLAY}(${JSON.stringify(url)})`);
  } finally {
    await page.close();
  }
};

/** Runs in the page, as text: the compiler's helpers do not exist there. */
const PLAY = `(async (url) => {
  const video = document.getElementById('v');
  const quadrants = [];
  const failed = new Promise((_, reject) => {
    video.addEventListener('error', () => reject(new Error('video: ' + (video.error && video.error.message))));
    setTimeout(() => reject(new Error('not played to its end; stands at ' + video.currentTime)), 40000);
  });
  if (url.includes('.m3u8')) {
    const hls = new Hls();
    hls.on(Hls.Events.ERROR, (_, data) => { if (data.fatal) video.dispatchEvent(new Event('error')); });
    hls.loadSource(url);
    hls.attachMedia(video);
  } else {
    video.src = url;
  }
  video.addEventListener('timeupdate', () => {
    if (quadrants.length > 0 || video.currentTime < video.duration / 3) return;
    const canvas = document.createElement('canvas');
    canvas.width = 64; canvas.height = 64;
    const context = canvas.getContext('2d');
    context.drawImage(video, 0, 0, 64, 64);
    for (const [x, y] of [[8, 8], [40, 8], [8, 40], [40, 40]]) {
      const data = context.getImageData(x, y, 16, 16).data;
      const sum = [0, 0, 0];
      for (let i = 0; i < data.length; i += 4) for (let c = 0; c < 3; c += 1) sum[c] += data[i + c];
      quadrants.push(sum.map((each) => Math.round(each / (data.length / 4))));
    }
  });
  const ended = new Promise((resolve) => video.addEventListener('ended', resolve));
  await Promise.race([video.play(), failed]);
  await Promise.race([ended, failed]);
  return {
    width: video.videoWidth, height: video.videoHeight, durationS: video.duration, playedS: video.currentTime,
    audioBytes: video.webkitAudioDecodedByteCount, videoBytes: video.webkitVideoDecodedByteCount, quadrants,
  };
})`;
