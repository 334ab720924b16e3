import type { Log } from '../../ports/log';
import type { RowKey } from '../../ports/read-model';
import type { Doorbells } from './doorbells';
import { Mailbox } from './mailbox';

const READ_AT_ONCE_MAX = 500;

export interface RowFeedOptions<Row extends RowKey> {
  readonly topicOf: (id: string) => string;
  readonly read: (keys: readonly RowKey[]) => Promise<readonly Row[]>;
  readonly signatureOf: (row: Row) => string;
  /** A row that will not change any more: its subscriptions end. */
  readonly isFinal: (row: Row) => boolean;
  readonly doorbells: Doorbells;
  readonly log: Log;
}

interface Watched<Row> {
  readonly key: RowKey;
  readonly mailboxes: Set<Mailbox<Row>>;
  readonly endBell: () => void;
}

/**
 * Follows single rows for any number of subscribers: each row is read once for all of them, after its topic rang or with the
 * slow look. Messages only say that there is something to read.
 */
export class RowFeed<Row extends RowKey> {
  private readonly watched = new Map<string, Watched<Row>>();
  private readonly dirty = new Set<string>();
  private reading: Promise<void> | null = null;
  private isClosed = false;

  constructor(private readonly options: RowFeedOptions<Row>) {}

  /** Rows that somebody follows. */
  get size(): number {
    return this.watched.size;
  }

  /** Begins with `row` as it is now, ends after a final state. */
  follow(row: Row): Mailbox<Row> {
    return new Mailbox<Row>({
      idOf: ({ id }) => id,
      signatureOf: this.options.signatureOf,
      isLast: this.options.isFinal,
      pendingMax: 1,
      overflow: () => new Error('one row cannot overflow'),
      start: (mailbox) => {
        mailbox.put(row);
        return this.options.isFinal(row) ? () => undefined : this.watch(row, mailbox);
      },
    });
  }

  /** Reads every followed row: messages may have been lost. */
  lookAtAll(): void {
    for (const id of this.watched.keys()) this.dirty.add(id);
    this.readDirty();
  }

  /** Reads nothing more; resolves when no read is under way. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.dirty.clear();
    await this.reading;
  }

  private watch(row: Row, mailbox: Mailbox<Row>): () => void {
    const { id } = row;
    const entry = this.watched.get(id) ?? this.openWatch(row);
    entry.mailboxes.add(mailbox);
    // Where others follow it already, its bell is open: what came after the row was read is found here.
    this.touch(id);
    return () => {
      entry.mailboxes.delete(mailbox);
      if (entry.mailboxes.size > 0 || this.watched.get(id) !== entry) return;
      this.watched.delete(id);
      this.dirty.delete(id);
      entry.endBell();
    };
  }

  private openWatch({ id, tenantId }: Row): Watched<Row> {
    const entry = {
      key: { id, tenantId },
      mailboxes: new Set<Mailbox<Row>>(),
      endBell: this.options.doorbells.listen(this.options.topicOf(id), () => this.touch(id)),
    };
    this.watched.set(id, entry);
    return entry;
  }

  private touch(id: string): void {
    if (!this.watched.has(id)) return;
    this.dirty.add(id);
    this.readDirty();
  }

  /** One read at a time: rings during a read wait for it and then share the next one. */
  private readDirty(): void {
    if (this.isClosed) return;
    this.reading ??= this.drain().finally(() => (this.reading = null));
  }

  private async drain(): Promise<void> {
    // Everything that rang in this turn goes into one read.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.dirty.size > 0) {
      const ids = [...this.dirty].slice(0, READ_AT_ONCE_MAX);
      for (const id of ids) this.dirty.delete(id);
      const entries = ids.flatMap((id) => this.watched.get(id) ?? []);
      if (entries.length === 0) continue;
      try {
        const rows = await this.options.read(entries.map(({ key }) => key));
        for (const row of rows) {
          for (const mailbox of [...(this.watched.get(row.id)?.mailboxes ?? [])]) mailbox.put(row);
        }
      } catch (error) {
        // The next slow look reads all of them again.
        this.options.log.warn('followed rows cannot be read', { error: String(error) });
        return;
      }
    }
  }
}
