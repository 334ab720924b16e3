import { streamOutput } from '../../src/flow/fetch/stream-output';
import { keepStepHeld } from '../../src/flow/transition/hold-step';
import { readConfig } from '../../src/runtime/config';
import { createContainer } from '../../src/runtime/container';
import { serveFetcher, type Fetcher } from './serve-fetcher';

/**
 * The fetch worker's own parts as its container wires them, put together as its use case does, without the task around them: the
 * rows of a fetch (two reads, one note, one transaction) are what `bench -- flow` measures. Nothing here asks Postgres.
 */
const { context, objects, source } = createContainer(readConfig(), 'output-fetch');

const fetcher: Fetcher = {
  fetch: async ({ url, key }) => {
    const { outputBytesMax: sizeBytesMax } = context.settings;
    const options = {
      allowedHosts: [new URL(url).host],
      sizeBytesMax,
      signal: new AbortController().signal,
    };
    // What the use case asks the store first.
    if ((await objects.head(key)) !== null) throw new Error(`${key} is taken`);
    const opening = await source.open(url, options);
    if (opening.kind !== 'OK') throw new Error(`The origin is ${JSON.stringify(opening)}`);
    const body = streamOutput(source, url, opening, options, keepStepHeld(context, key));
    const put = await objects.putStream(key, body, {
      contentType: 'video/mp4',
      sizeBytesMax,
      ...(opening.sizeBytes === null ? {} : { expected: { sizeBytes: opening.sizeBytes } }),
      onReceived: () => Promise.resolve(),
      signal: options.signal,
    });
    if (put.outcome !== 'created') throw new Error(`${key} was ${put.outcome}`);
    return put.sha256;
  },
  remove: (key) => objects.delete(key),
};

// The SDK of S3 is loaded by the first request; its memory is not a fetch's.
objects
  .head('bench/nothing')
  .then(() => serveFetcher(fetcher))
  .catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  });
