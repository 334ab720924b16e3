import { Readable } from 'node:stream';
import { OutputInterruptedError, OutputTooLargeError } from '../../ports/output-source';
import type { Hop } from './open-hop';

/**
 * The body of an answer with a bound on its bytes. A cut becomes `OutputInterruptedError`; when
 * the stream is closed, read to its end or not, so is the connection.
 */
export function meterBody(
  hop: Hop,
  host: string,
  bytesMax: number,
  callerSignal: AbortSignal | undefined,
): Readable {
  const metered = Readable.from(meter(hop.answer.body, host, bytesMax, callerSignal), {
    objectMode: false,
  });
  metered.once('close', hop.close);
  return metered;
}

async function* meter(
  source: Readable,
  host: string,
  bytesMax: number,
  callerSignal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  let receivedBytes = 0;
  try {
    for await (const chunk of source) {
      const bytes = chunk as Buffer;
      receivedBytes += bytes.length;
      if (receivedBytes > bytesMax) {
        throw new OutputTooLargeError(`${host} sent more bytes than are allowed`);
      }
      yield bytes;
    }
  } catch (error) {
    if (error instanceof OutputTooLargeError) throw error;
    if (callerSignal?.aborted) throw callerSignal.reason;
    throw new OutputInterruptedError(`${host} broke off after ${receivedBytes} bytes`, {
      cause: error,
    });
  }
}
