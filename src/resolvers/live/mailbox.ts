/**
 * What waits for one subscriber: of each row the latest state only, so that a reader who does not keep up costs bounded
 * memory and still ends with the truth. States of one row that nobody fetched in time are replaced, never queued.
 *
 * Iterators of dropped subscriptions must leave nothing behind: work begins with the first `next`, and `return` ends it
 * at once even while a `next` waits.
 */
export interface MailboxOptions<Row> {
  readonly idOf: (row: Row) => string;
  /** Equal texts mean that there is nothing new to tell. */
  readonly signatureOf: (row: Row) => string;
  /** After which row the iteration ends; none for a feed without an end. */
  readonly isLast: (row: Row) => boolean;
  readonly pendingMax: number;
  /** Called once, at the first `next`; answers how to end it. */
  readonly start: (mailbox: Mailbox<Row>) => () => void;
  /** What the reader is told when more rows than `pendingMax` wait. */
  readonly overflow: () => Error;
}

export class Mailbox<Row> implements AsyncIterableIterator<Row> {
  private readonly pending = new Map<string, Row>();
  /** What each row was when it was last delivered, or taken in to be. */
  private readonly told = new Map<string, string>();
  private waiting: {
    resolve: (result: IteratorResult<Row>) => void;
    reject: (error: Error) => void;
  } | null = null;
  private stop: (() => void) | null = null;
  private state: 'NEW' | 'OPEN' | 'DONE' = 'NEW';
  private fault: Error | null = null;

  constructor(private readonly options: MailboxOptions<Row>) {}

  /** Rows that wait to be fetched. */
  get depth(): number {
    return this.pending.size;
  }

  put(row: Row): void {
    if (this.state === 'DONE' || this.fault !== null) return;
    const id = this.options.idOf(row);
    const signature = this.options.signatureOf(row);
    if (this.told.get(id) === signature) return;
    this.remember(id, signature);
    if (this.waiting !== null) {
      const { resolve } = this.waiting;
      this.waiting = null;
      resolve(this.deliver(row));
      return;
    }
    this.pending.set(id, row);
    if (this.pending.size > this.options.pendingMax) this.fail(this.options.overflow());
  }

  /** Ends the iteration with an error; what waits is dropped, and the reader must begin anew. */
  fail(error: Error): void {
    if (this.state === 'DONE' || this.fault !== null) return;
    this.release();
    this.pending.clear();
    if (this.waiting === null) {
      this.fault = error;
      return;
    }
    const { reject } = this.waiting;
    this.waiting = null;
    this.state = 'DONE';
    reject(error);
  }

  next(): Promise<IteratorResult<Row>> {
    if (this.state === 'NEW') {
      this.state = 'OPEN';
      this.stop = this.options.start(this);
    }
    if (this.fault !== null) {
      const error = this.fault;
      this.fault = null;
      this.state = 'DONE';
      return Promise.reject(error);
    }
    if (this.state === 'DONE') return Promise.resolve({ value: undefined, done: true });
    for (const [id, row] of this.pending) {
      this.pending.delete(id);
      return Promise.resolve(this.deliver(row));
    }
    return new Promise((resolve, reject) => (this.waiting = { resolve, reject }));
  }

  return(): Promise<IteratorResult<Row>> {
    this.state = 'DONE';
    this.fault = null;
    this.release();
    this.pending.clear();
    this.waiting?.resolve({ value: undefined, done: true });
    this.waiting = null;
    return Promise.resolve({ value: undefined, done: true });
  }

  throw(): Promise<IteratorResult<Row>> {
    return this.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private deliver(row: Row): IteratorResult<Row> {
    if (this.options.isLast(row)) {
      this.state = 'DONE';
      this.release();
    }
    return { value: row, done: false };
  }

  /** Of a long feed, what was told long ago is forgotten; telling it twice does no harm. */
  private remember(id: string, signature: string): void {
    this.told.delete(id);
    this.told.set(id, signature);
    for (const oldest of this.told.keys()) {
      if (this.told.size <= this.options.pendingMax) return;
      this.told.delete(oldest);
    }
  }

  private release(): void {
    const { stop } = this;
    this.stop = null;
    stop?.();
  }
}
