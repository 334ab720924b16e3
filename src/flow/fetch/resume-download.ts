import {
  OutputInterruptedError,
  type OutputOpening,
  type OutputSource,
} from '../../ports/output-source';

export type Opened = Extract<OutputOpening, { kind: 'OK' }>;

const RESUMES_MAX = 5;

/**
 * The output from where the first answer begins: a cut transfer is continued by Range from the byte where it broke, as long as
 * the server still serves the same version. Fails with the source's error when it cannot be continued.
 * @param onChunk a sign of life
 */
export const resumedChunks = async function* (
  source: OutputSource,
  url: string,
  first: Opened,
  options: Parameters<OutputSource['open']>[1],
  onChunk: () => Promise<void>,
): AsyncGenerator<Buffer> {
  let current = first;
  let received = first.rangeStart;
  for (let resumes = 0; ; resumes += 1) {
    try {
      for await (const chunk of current.body as AsyncIterable<Buffer>) {
        received += chunk.length;
        await onChunk();
        yield chunk;
      }
      return;
    } catch (error) {
      if (!(error instanceof OutputInterruptedError) || resumes >= RESUMES_MAX) throw error;
      current = await reopen(source, url, received, current.etag, options);
    }
  }
};

export const reopen = async (
  source: OutputSource,
  url: string,
  received: number,
  etag: string | null,
  options: Parameters<OutputSource['open']>[1],
): Promise<Opened> => {
  const again = await source.open(url, {
    ...options,
    ...(received === 0
      ? {}
      : { rangeStart: received, ...(etag === null ? {} : { ifRangeEtag: etag }) }),
  });
  if (again.kind === 'OK' && again.rangeStart === received) return again;
  if (again.kind === 'OK') again.body.destroy();
  throw new OutputInterruptedError('The output cannot be continued where it broke');
};
