import { createHash } from 'node:crypto';
import type { Canvas, Colour } from './canvas';

/**
 * Letters of 5 by 8 dots from space to tilde, five bytes each: one byte a column, the lowest bit on
 * top. They are drawn here because not every ffmpeg has drawtext and not every machine has fonts.
 */
const FONT = Buffer.from(
  [
    '0000000000',
    '00005f0000',
    '0007000700',
    '147f147f14',
    '242a7f2a12',
    '2313086462',
    '3649562050',
    '0008070300',
    '001c224100',
    '0041221c00',
    '2a1c7f1c2a',
    '08083e0808',
    '0080703000',
    '0808080808',
    '0000606000',
    '2010080402',
    '3e5149453e',
    '00427f4000',
    '7249494946',
    '2141494d33',
    '1814127f10',
    '2745454539',
    '3c4a494931',
    '4121110907',
    '3649494936',
    '464949291e',
    '0000140000',
    '0040340000',
    '0008142241',
    '1414141414',
    '0041221408',
    '0201590906',
    '3e415d594e',
    '7c1211127c',
    '7f49494936',
    '3e41414122',
    '7f4141413e',
    '7f49494941',
    '7f09090901',
    '3e41415173',
    '7f0808087f',
    '00417f4100',
    '2040413f01',
    '7f08142241',
    '7f40404040',
    '7f021c027f',
    '7f0408107f',
    '3e4141413e',
    '7f09090906',
    '3e4151215e',
    '7f09192946',
    '2649494932',
    '03017f0103',
    '3f4040403f',
    '1f2040201f',
    '3f4038403f',
    '6314081463',
    '0304780403',
    '6159494d43',
    '007f414141',
    '0204081020',
    '004141417f',
    '0402010204',
    '4040404040',
    '0003070800',
    '2054547840',
    '7f28444438',
    '3844444428',
    '384444287f',
    '3854545418',
    '00087e0902',
    '18a4a49c78',
    '7f08040478',
    '00447d4000',
    '2040403d00',
    '7f10284400',
    '00417f4000',
    '7c04780478',
    '7c08040478',
    '3844444438',
    'fc18242418',
    '18242418fc',
    '7c08040408',
    '4854545424',
    '04043f4424',
    '3c4040207c',
    '1c2040201c',
    '3c4030403c',
    '4428102844',
    '4c9090907c',
    '4464544c44',
    '0008364100',
    '0000770000',
    '0041360800',
    '0201020402',
  ].join(''),
  'hex',
);

const GLYPH_COLUMNS = 5;
/** Width and height of a letter with its gap, in dots. */
export const CELL_COLUMNS = 6;
export const CELL_ROWS = 10;

/** Draws one line; `scale` is the size of a dot in pixels. */
export function drawText(
  canvas: Canvas,
  text: string,
  left: number,
  top: number,
  scale: number,
  colour: Colour,
): void {
  let x = left;
  for (const character of text) {
    glyphOf(character).forEach((bits, column) => {
      for (let row = 0; row < 8; row += 1) {
        if ((bits >> row) & 1) {
          canvas.fillRectangle(x + column * scale, top + row * scale, scale, scale, colour);
        }
      }
    });
    x += CELL_COLUMNS * scale;
  }
}

/** Breaks at spaces where it can; what does not fit in `linesMax` ends with three dots. */
export function wrapText(text: string, columns: number, linesMax: number): string[] {
  const lines: string[] = [];
  let line: string[] = [];
  for (const word of readableText(text)
    .split(/\s+/)
    .filter((part) => part !== '')) {
    let rest = [...word];
    if (line.length > 0 && line.length + 1 + rest.length > columns) {
      lines.push(line.join(''));
      line = [];
    }
    if (line.length > 0) line.push(' ');
    while (line.length + rest.length > columns) {
      const room = columns - line.length;
      lines.push([...line, ...rest.slice(0, room)].join(''));
      rest = rest.slice(room);
      line = [];
    }
    line.push(...rest);
  }
  if (line.length > 0) lines.push(line.join(''));
  if (lines.length <= linesMax) return lines;
  const last = [...(lines[linesMax - 1] ?? '')].slice(0, columns - 3).join('');
  return [...lines.slice(0, linesMax - 1), `${last}...`];
}

/** Letters with accents lose them: the font has none, and the word stays readable. */
function readableText(text: string): string {
  return text.normalize('NFD').replace(/\p{Diacritic}/gu, '');
}

function glyphOf(character: string): Buffer {
  const code = character.codePointAt(0) ?? 0x20;
  if (code >= 0x20 && code <= 0x7e) {
    const start = (code - 0x20) * GLYPH_COLUMNS;
    return FONT.subarray(start, start + GLYPH_COLUMNS);
  }
  // Other scripts have no letters here: each character gets a block pattern of its own, so that
  // different texts still look different.
  return createHash('sha256').update(character).digest().subarray(0, GLYPH_COLUMNS);
}
