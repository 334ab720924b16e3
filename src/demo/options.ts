import { statSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { projectRoot } from '../runtime/project-root';

export interface DemoOptions {
  readonly image: string;
  readonly prompt: string;
  readonly model: string;
  readonly durationMs: number;
  readonly aspectRatio: string;
  readonly resolution: string;
  readonly seed: number | null;
  readonly outputDir: string;
  /** A fault switch of the sandbox provider, to watch the product deal with it. */
  readonly fault: string | null;
  readonly keepRunning: boolean;
}

export const DEMO_USAGE = `Usage: npm run demo -- [options]
  --image FILE      JPEG, PNG or WebP to start from (a bundled picture by default)
  --prompt TEXT     what the video shall show
  --model NAME      sandbox-video-1 by default
  --duration SEC    whole seconds, 2 to 10 (4)
  --aspect RATIO    16:9, 9:16 or 1:1 (16:9)
  --resolution R    480p, 720p or 1080p (720p)
  --seed N          repeat a result
  --fault NAME      make the sandbox provider fail, e.g. answer_lost (see sandbox/README.md)
  --out DIR         where to leave MP4 and HLS (output)
  --keep            leave the product running, to look at the playground`;

/** Throws an Error with a sentence for the person at the terminal. */
export const readDemoOptions = (argv: readonly string[]): DemoOptions | 'HELP' => {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      image: { type: 'string' },
      prompt: { type: 'string', default: 'Sunset over the hills, clouds drifting, cinematic' },
      model: { type: 'string', default: 'sandbox-video-1' },
      duration: { type: 'string', default: '4' },
      aspect: { type: 'string', default: '16:9' },
      resolution: { type: 'string', default: '720p' },
      seed: { type: 'string' },
      fault: { type: 'string' },
      out: { type: 'string', default: 'output' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'HELP';
  const image = values.image ?? path.join(projectRoot(), 'examples', 'demo', 'hills.jpg');
  if (statSync(image, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new Error(`--image: there is no file ${image}`);
  }
  if (values.prompt.trim() === '') throw new Error('--prompt: say what the video shall show');
  return {
    image,
    prompt: values.prompt,
    model: values.model,
    durationMs: wholeNumber('--duration', values.duration) * 1000,
    aspectRatio: values.aspect,
    resolution: values.resolution,
    seed: values.seed === undefined ? null : wholeNumber('--seed', values.seed),
    outputDir: path.resolve(values.out),
    fault: values.fault ?? null,
    keepRunning: values.keep,
  };
};

const wholeNumber = (option: string, text: string): number => {
  if (!/^-?\d{1,10}$/.test(text)) throw new Error(`${option}: "${text}" is not a whole number`);
  return Number(text);
};
