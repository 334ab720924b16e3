import { join } from 'node:path';
import { JsonLinesLog } from './log';

export interface CreateRequestEntry {
  readonly at: string;
  /** Null when the body could not be read. */
  readonly reference: string | null;
}

/** Every create that reached this provider, counted before anything is decided about it. */
export class CreateRequestLog {
  private readonly log: JsonLinesLog<CreateRequestEntry>;
  private readonly counts = new Map<string, number>();
  private total = 0;

  constructor(dataDir: string) {
    const { log, entries } = JsonLinesLog.open<CreateRequestEntry>(join(dataDir, 'requests.jsonl'));
    this.log = log;
    for (const entry of entries) this.count(entry);
  }

  record(reference: string | null): void {
    const entry = { at: new Date().toISOString(), reference };
    this.log.append(entry);
    this.count(entry);
  }

  summary(): { readonly total: number; readonly by_reference: Readonly<Record<string, number>> } {
    return { total: this.total, by_reference: Object.fromEntries(this.counts) };
  }

  close(): void {
    this.log.close();
  }

  private count(entry: CreateRequestEntry): void {
    this.total += 1;
    if (entry.reference !== null) {
      this.counts.set(entry.reference, (this.counts.get(entry.reference) ?? 0) + 1);
    }
  }
}
