import { createReadStream } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { z } from 'zod';

import type { Evidence } from '../../ports/verification';

const jobLine = z.object({
  event: z.literal('created'),
  job: z.object({
    id: z.string(),
    createdAt: z.string(),
    request: z.object({ reference: z.string().nullable() }),
  }),
});
const postLine = z.object({ at: z.string(), reference: z.string().nullable() });
const chargeLine = z.object({
  id: z.string(),
  reference: z.string().nullable(),
  amount: z.string(),
  at: z.string(),
});

/**
 * What the sandbox provider wrote down by itself: each create it was asked for, each job it made, each charge. Read line by
 * line; a half line at the end is one that is being written.
 */
export async function* readSandboxLog(dir: string): AsyncGenerator<Evidence> {
  for await (const line of linesOf(path.join(dir, 'requests.jsonl'))) {
    const { at, reference } = postLine.parse(line);
    yield { kind: 'post', id: null, reference, amount: null, at: new Date(at) };
  }
  for await (const line of linesOf(path.join(dir, 'jobs.jsonl'))) {
    const parsed = jobLine.safeParse(line);
    if (!parsed.success) continue;
    const { id, createdAt, request } = parsed.data.job;
    yield {
      kind: 'job',
      id,
      reference: request.reference,
      amount: null,
      at: new Date(createdAt),
    };
  }
  for await (const line of linesOf(path.join(dir, 'charges.jsonl'))) {
    const { id, reference, amount, at } = chargeLine.parse(line);
    yield { kind: 'charge', id, reference, amount, at: new Date(at) };
  }
}

async function* linesOf(file: string): AsyncGenerator<unknown> {
  const input = createReadStream(file, 'utf8');
  const lines = createInterface({ input, crlfDelay: Infinity });
  let half: string | null = null;
  try {
    for await (const line of lines) {
      if (half !== null) throw new Error(`${file} has a line that is no JSON`);
      if (line === '') continue;
      const value = parseOrNull(line);
      if (value === null) half = line;
      else yield value;
    }
  } catch (error) {
    // A provider that was never asked has written nothing.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  } finally {
    lines.close();
    input.destroy();
  }
}

const parseOrNull = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
};
