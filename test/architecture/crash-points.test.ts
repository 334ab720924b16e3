import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { CRASH_POINTS } from '../../src/ports/crash-points';

const SRC = path.resolve(__dirname, '../../src');

const namesInSource = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) =>
    [...readFileSync(path.join(SRC, file), 'utf8').matchAll(/\bcrashpoint\('([^']+)'\)/g)].map(
      (match) => match[1],
    ),
  );

describe('crash points', () => {
  it('are reached somewhere, each of the list', () => {
    const missing = CRASH_POINTS.filter((name) => !namesInSource.includes(name));
    // Fix: call crashpoint('<name>') between the two durable steps it names, or take it off the list.
    expect(missing).toEqual([]);
  });

  it('that are reached are on the list', () => {
    const unknown = namesInSource.filter(
      (name) => !(CRASH_POINTS as readonly (string | undefined)[]).includes(name),
    );
    expect(unknown).toEqual([]);
  });

  it('have names of their own', () => {
    expect(new Set(CRASH_POINTS).size).toBe(CRASH_POINTS.length);
  });
});
