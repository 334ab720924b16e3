import { createHash } from 'node:crypto';
import { CELL_COLUMNS, CELL_ROWS, drawText, wrapText } from './bitmap-text';
import { Canvas } from './canvas';
import type { Colour } from './canvas';
import type { VideoRequest } from './job';

export interface FrameSize {
  readonly width: number;
  readonly height: number;
}

/** How one clip looks, sounds and moves: derived from prompt and seed and from nothing else. */
export interface Scene {
  readonly background: Canvas;
  readonly sprite: Canvas;
  readonly caption: Canvas;
  readonly toneHz: number;
  /** Turns per clip and phases of the moving element, and of the pan of the background. */
  readonly turnsX: number;
  readonly turnsY: number;
  readonly phase: number;
}

const SHORT_SIDE = { '480p': 480, '720p': 720, '1080p': 1080 } as const;

/** Width and height in pixels, always even. */
export function frameSizeOf(request: Pick<VideoRequest, 'aspect_ratio' | 'resolution'>): FrameSize {
  const short = SHORT_SIDE[request.resolution];
  const long = Math.round((short * 16) / 9 / 2) * 2;
  switch (request.aspect_ratio) {
    case '16:9':
      return { width: long, height: short };
    case '9:16':
      return { width: short, height: long };
    case '1:1':
      return { width: short, height: short };
  }
}

export function composeScene(request: VideoRequest, size: FrameSize): Scene {
  const digest = createHash('sha256')
    .update(JSON.stringify([request.prompt, request.negative_prompt, request.seed]))
    .digest();
  const hue = digest.readUInt16BE(0) % 360;
  return {
    background: drawBackground(digest, hue, size),
    sprite: drawSprite(digest, hue, size),
    caption: drawCaption(request, size),
    toneHz: 220 + (digest.readUInt16BE(2) % 660),
    turnsX: 1 + ((digest[4] ?? 0) % 3),
    turnsY: 1 + ((digest[5] ?? 0) % 3),
    phase: ((digest[6] ?? 0) / 256) * 2 * Math.PI,
  };
}

/** Drawn at a quarter of the size and enlarged by the renderer, which also softens it. */
function drawBackground(digest: Buffer, hue: number, size: FrameSize): Canvas {
  const canvas = new Canvas(Math.ceil(size.width / 4), Math.ceil(size.height / 4));
  const from = colourOfHue(hue, 0.55, 0.28);
  const to = colourOfHue((hue + 40 + ((digest[7] ?? 0) % 120)) % 360, 0.7, 0.55);
  const cell = 8 + ((digest[8] ?? 0) % 16);
  const kind = (digest[9] ?? 0) % 4;
  for (let y = 0; y < canvas.height; y += 1) {
    for (let x = 0; x < canvas.width; x += 1) {
      const slope = (x / canvas.width + y / canvas.height) / 2;
      const lift = patternAt(kind, x, y, cell, canvas) ? 0.18 : 0;
      canvas.set(x, y, mix(from, to, Math.min(1, slope * 0.82 + lift)));
    }
  }
  return canvas;
}

function patternAt(kind: number, x: number, y: number, cell: number, canvas: Canvas): boolean {
  const column = Math.floor(x / cell);
  const row = Math.floor(y / cell);
  if (kind === 0) return (column + row) % 2 === 0;
  if (kind === 1) return Math.floor((x + y) / cell) % 2 === 0;
  if (kind === 2) {
    const distance = Math.hypot(x - canvas.width / 2, y - canvas.height / 2);
    return Math.floor(distance / cell) % 2 === 0;
  }
  return (x % cell) ** 2 + (y % cell) ** 2 < (cell * 0.7) ** 2;
}

function drawSprite(digest: Buffer, hue: number, size: FrameSize): Canvas {
  const side = Math.floor(Math.min(size.width, size.height) / 12) * 2;
  const canvas = new Canvas(side, side);
  const colour = colourOfHue((hue + 180) % 360, 0.85, 0.6);
  const rim: Colour = [255, 255, 255, 255];
  const kind = (digest[10] ?? 0) % 3;
  for (let y = 0; y < side; y += 1) {
    for (let x = 0; x < side; x += 1) {
      const reach = reachOf(kind, (2 * x) / side - 1, (2 * y) / side - 1);
      if (reach <= 1) canvas.set(x, y, reach > 0.86 ? rim : colour);
    }
  }
  return canvas;
}

/** Distance from the middle in the norm that makes a disc, a diamond or a square. */
function reachOf(kind: number, x: number, y: number): number {
  if (kind === 0) return Math.hypot(x, y);
  if (kind === 1) return Math.abs(x) + Math.abs(y);
  return Math.max(Math.abs(x), Math.abs(y)) / 0.8;
}

function drawCaption(request: VideoRequest, size: FrameSize): Canvas {
  const scale = Math.max(2, Math.floor(size.width / (CELL_COLUMNS * 44)));
  const margin = scale * 4;
  const columns = Math.floor((size.width - 2 * margin) / (CELL_COLUMNS * scale));
  const seconds = (request.duration_ms / 1000).toFixed(1);
  const facts = `seed ${request.seed}  ${request.resolution} ${request.aspect_ratio}  ${seconds} s`;
  const lines = [...wrapText(request.prompt, columns, 4), ...wrapText(facts, columns, 2)];
  const height = lines.length * CELL_ROWS * scale + 2 * margin;
  const canvas = new Canvas(size.width, height + (height % 2));
  canvas.fillRectangle(0, 0, canvas.width, canvas.height, [0, 0, 0, 150]);
  lines.forEach((line, index) => {
    const colour: Colour = index === lines.length - 1 ? [255, 220, 120, 255] : [255, 255, 255, 255];
    drawText(canvas, line, margin, margin + index * CELL_ROWS * scale, scale, colour);
  });
  return canvas;
}

function colourOfHue(hue: number, saturation: number, lightness: number): Colour {
  const spread = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number): number => {
    const k = (offset + hue / 30) % 12;
    return Math.round(255 * (lightness - spread * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4), 255];
}

function mix(from: Colour, to: Colour, share: number): Colour {
  const blend = (index: 0 | 1 | 2): number =>
    Math.round(from[index] + (to[index] - from[index]) * share);
  return [blend(0), blend(1), blend(2), 255];
}
