export type TooLong = 'LINE_TOO_LONG' | 'TEXT_INVALID';

export type Line = {
  readonly lineNo: number;
  /** Of the whole, up to here. */
  readonly bytesRead: number;
} & ({ readonly text: string } | { readonly text: null; readonly fault: TooLong });

const NEWLINE = 0x0a;
const BOM = '\uFEFF';

/**
 * Cuts bytes into lines of UTF-8. A line beyond the limit is told by its number and its bytes are dropped as they come,
 * so that no line, however long, is ever held.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  lineBytesMax: number,
  onBytes: (bytes: Uint8Array) => void,
): AsyncGenerator<Line> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let lineNo = 0;
  let bytesRead = 0;

  const take = (bytes: Uint8Array): void => {
    heldBytes += bytes.length;
    if (heldBytes <= lineBytesMax) held.push(bytes);
    else held = [];
  };
  const end = (): Line => {
    lineNo += 1;
    const line = toLine(held, heldBytes > lineBytesMax, lineNo);
    held = [];
    heldBytes = 0;
    return { ...line, lineNo, bytesRead };
  };

  for await (const chunk of chunks) {
    onBytes(chunk);
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      take(chunk.subarray(from, at));
      bytesRead += at + 1 - from;
      from = at + 1;
      yield end();
    }
    take(chunk.subarray(from));
    bytesRead += chunk.length - from;
  }
  if (heldBytes > 0) yield end();
}

const toLine = (
  held: readonly Uint8Array[],
  isTooLong: boolean,
  lineNo: number,
): { readonly text: string } | { readonly text: null; readonly fault: TooLong } => {
  if (isTooLong) return { text: null, fault: 'LINE_TOO_LONG' };
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Buffer.concat(held),
    );
    const begun = lineNo === 1 && text.startsWith(BOM) ? text.slice(1) : text;
    return { text: begun.endsWith('\r') ? begun.slice(0, -1) : begun };
  } catch {
    return { text: null, fault: 'TEXT_INVALID' };
  }
};
