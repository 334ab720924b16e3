import { createHash, randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

import type { Reply } from './fetch-protocol';

const LOCAL = '127.0.0.1';
const PIECE_BYTES = 256 * 2 ** 10;

/**
 * Serves one object in a process of its own, so that what it costs is nobody's. Argument: its size. `/whole` answers no ranges,
 * as servers do that make their output on the way; `/ranges` does, and names the version. With `?bytesPerSecond=N` each
 * connection goes no faster than that.
 */
const content = randomBytes(Number(process.argv[2]));

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', `http://${LOCAL}`);
  const givesRanges = url.pathname === '/ranges';
  const bytesPerSecond = Number(url.searchParams.get('bytesPerSecond') ?? 0);
  const range = givesRanges ? /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') : null;
  const start = Number(range?.[1] ?? 0);
  const last = range?.[2] ?? '';
  const end = last === '' ? content.length - 1 : Math.min(Number(last), content.length - 1);
  response.writeHead(range === null ? 200 : 206, {
    'content-type': 'video/mp4',
    'content-length': end - start + 1,
    ...(givesRanges ? { etag: '"v1"', 'accept-ranges': 'bytes' } : {}),
    ...(range === null ? {} : { 'content-range': `bytes ${start}-${end}/${content.length}` }),
  });
  const bytes = content.subarray(start, end + 1);
  if (bytesPerSecond === 0) response.end(bytes);
  // A client that has what it wanted leaves.
  else sendSlowly(response, bytes, bytesPerSecond).catch(() => response.destroy());
});

const sendSlowly = async (
  response: ServerResponse,
  bytes: Buffer,
  bytesPerSecond: number,
): Promise<void> => {
  const began = performance.now();
  for (let sent = 0; sent < bytes.length && !response.destroyed; sent += PIECE_BYTES) {
    const aheadMs = (sent / bytesPerSecond) * 1_000 - (performance.now() - began);
    if (aheadMs > 0) await wait(aheadMs);
    response.write(bytes.subarray(sent, sent + PIECE_BYTES));
  }
  response.end();
};

server.listen(0, LOCAL, () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({
    kind: 'origin',
    baseUrl: `http://${LOCAL}:${port}`,
    sha256: createHash('sha256').update(content).digest('hex'),
  } satisfies Reply);
});
process.on('disconnect', () => process.exit(0));
