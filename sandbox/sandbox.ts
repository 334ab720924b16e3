import { existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ChargeBook } from './billing';
import { JobCallbacks } from './callbacks';
import type { SandboxConfig } from './config';
import { FaultQueue } from './faults';
import { findFfmpeg } from './ffmpeg';
import type { JobOutput, VideoRequest } from './job';
import { JobStore } from './job-store';
import { JobRunner } from './jobs';
import type { Renderer } from './jobs';
import { OutputUrls } from './presenter';
import { describeOutput, renderVideo } from './render';
import { CreateRequestLog } from './request-log';
import { buildServer } from './server';
import { WebhookSender } from './webhook';

export interface RunningSandbox {
  readonly url: string;
  stop(): Promise<void>;
}

/** Opens the logs, listens, and lets unfinished jobs go on. Rejects when it cannot listen or render. */
export async function startSandbox(
  config: SandboxConfig,
  searchPath: string,
): Promise<RunningSandbox> {
  mkdirSync(join(config.dataDir, 'outputs'), { recursive: true });
  const render = await buildRenderer(config, searchPath);
  const store = new JobStore(config.dataDir);
  const charges = new ChargeBook(config.dataDir);
  const requests = new CreateRequestLog(config.dataDir);
  const urls = new OutputUrls(config.apiKey, config.urlTtlMs);
  const sender = new WebhookSender({
    secret: config.webhookSecret,
    backoffMs: config.callbackBackoffMs,
    triesMax: config.callbackTriesMax,
  });
  const callbacks = new JobCallbacks(store, urls, sender);
  const slots = config.render === 'instant' ? config.concurrency : config.renderSlots;
  const runner = new JobRunner(store, charges, callbacks, render, slots);
  const app = buildServer({
    ...{ store, charges, requests, urls, sender, callbacks, runner },
    faultQueue: new FaultQueue(),
    concurrency: config.concurrency,
    apiKey: config.apiKey,
  });
  const server = createServer(app);
  server.keepAliveTimeout = 30_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(config.port, config.host, resolve);
  });
  const url = `http://${config.host}:${(server.address() as AddressInfo).port}`;
  urls.setOrigin(url);
  runner.resume();
  return {
    url,
    stop: async () => {
      runner.stop();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await Promise.all([closed, sender.stop()]);
      for (const log of [store, charges, requests]) log.close();
    },
  };
}

const INSTANT_CLIP: VideoRequest = {
  model: 'sandbox-instant',
  prompt: 'instant',
  negative_prompt: null,
  seed: 1,
  aspect_ratio: '16:9',
  resolution: '480p',
  duration_ms: 1000,
  audio: true,
  image_url: null,
  callback_url: null,
  reference: null,
  options: {},
};

/** Renders each job, or, for benches, hands out one clip that was rendered beforehand. */
async function buildRenderer(config: SandboxConfig, searchPath: string): Promise<Renderer> {
  const outputDir = join(config.dataDir, 'outputs');
  const ffmpegPath = findFfmpeg(config.ffmpegPath, searchPath, config.dataDir);
  if (config.render === 'real') {
    return (job, signal, onProgress) =>
      renderVideo(job.request, job.id, { ffmpegPath, outputDir, signal, onProgress });
  }
  const path = join(outputDir, 'instant.mp4');
  const signal = new AbortController().signal;
  const clip: JobOutput = existsSync(path)
    ? await describeOutput(path)
    : await renderVideo(INSTANT_CLIP, 'instant', {
        ...{ ffmpegPath, outputDir, signal },
        onProgress: () => undefined,
      });
  return () => Promise.resolve(clip);
}
