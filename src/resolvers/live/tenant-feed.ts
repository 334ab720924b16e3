import { isTerminal, TASK_STATUSES } from '../../domain/generation/statuses';
import type { Task } from '../../domain/generation/task';
import { topics } from '../../flow/notify/announce-change';
import type { Log } from '../../ports/log';
import type { ReadModel } from '../../ports/read-model';
import { ApiError } from '../errors';
import type { Doorbells } from './doorbells';
import { Mailbox } from './mailbox';

const PENDING_MAX = 1_000;
const LOOK_MAX = 100;
const READ_AT_ONCE_MAX = 500;
const LIVE_STATUSES = TASK_STATUSES.filter((status) => !isTerminal(status));

interface Followed {
  readonly mailboxes: Set<Mailbox<Task>>;
  /** Generations that rang and are to be read. */
  readonly dirty: Set<string>;
  /** Seen alive: the slow look asks for them until they have ended. */
  readonly live: Set<string>;
  endBell: () => void;
  isLooking: boolean;
  reading: Promise<void> | null;
}

export interface TenantFeedOptions {
  readonly reads: ReadModel;
  readonly doorbells: Doorbells;
  readonly log: Log;
  readonly signatureOf: (task: Task) => string;
}

/**
 * Follows every generation of a tenant. Begins with those under way; a reader who falls more than a thousand generations
 * behind is told to begin anew rather than kept waiting for a terminal that was dropped.
 */
export class TenantFeed {
  private readonly followed = new Map<string, Followed>();
  private isClosed = false;

  constructor(private readonly options: TenantFeedOptions) {}

  /** Tenants that somebody follows. */
  get size(): number {
    return this.followed.size;
  }

  follow(tenantId: string): Mailbox<Task> {
    return new Mailbox<Task>({
      idOf: ({ id }) => id,
      signatureOf: this.options.signatureOf,
      isLast: () => false,
      pendingMax: PENDING_MAX,
      overflow: () =>
        new ApiError('SUBSCRIBER_TOO_SLOW', 'Too much happened unread; subscribe again.'),
      start: (mailbox) => this.watch(tenantId, mailbox),
    });
  }

  lookAtAll(): void {
    for (const tenantId of this.followed.keys()) this.look(tenantId);
  }

  /** Reads nothing more; resolves when no read is under way. */
  async close(): Promise<void> {
    this.isClosed = true;
    const entries = [...this.followed.values()];
    for (const entry of entries) {
      entry.dirty.clear();
      entry.isLooking = false;
    }
    await Promise.all(entries.map(({ reading }) => reading ?? Promise.resolve()));
  }

  private watch(tenantId: string, mailbox: Mailbox<Task>): () => void {
    const entry = this.followed.get(tenantId) ?? this.open(tenantId);
    entry.mailboxes.add(mailbox);
    this.look(tenantId);
    return () => {
      entry.mailboxes.delete(mailbox);
      if (entry.mailboxes.size > 0 || this.followed.get(tenantId) !== entry) return;
      this.followed.delete(tenantId);
      entry.endBell();
    };
  }

  private open(tenantId: string): Followed {
    const entry: Followed = {
      mailboxes: new Set(),
      dirty: new Set(),
      live: new Set(),
      endBell: () => undefined,
      isLooking: false,
      reading: null,
    };
    this.followed.set(tenantId, entry);
    entry.endBell = this.options.doorbells.listen(topics.tenant(tenantId), (payload) => {
      const taskId = payload?.['taskId'];
      if (typeof taskId === 'string') {
        entry.dirty.add(taskId);
        this.readDirty(tenantId, entry);
      } else {
        this.look(tenantId);
      }
    });
    return entry;
  }

  /** Those under way, and those last seen so: what no message told of. */
  private look(tenantId: string): void {
    const entry = this.followed.get(tenantId);
    if (entry === undefined) return;
    entry.isLooking = true;
    for (const id of entry.live) entry.dirty.add(id);
    this.readDirty(tenantId, entry);
  }

  private readDirty(tenantId: string, entry: Followed): void {
    if (this.isClosed) return;
    entry.reading ??= this.drain(tenantId, entry).finally(() => (entry.reading = null));
  }

  private async drain(tenantId: string, entry: Followed): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    try {
      while (entry.isLooking || entry.dirty.size > 0) {
        if (entry.isLooking) {
          entry.isLooking = false;
          this.tell(entry, await this.readLive(tenantId));
          continue;
        }
        const ids = [...entry.dirty].slice(0, READ_AT_ONCE_MAX);
        for (const id of ids) entry.dirty.delete(id);
        this.tell(entry, await this.options.reads.readTasks(tenantId, ids));
      }
    } catch (error) {
      // The next slow look reads again.
      this.options.log.warn('a followed tenant cannot be read', { error: String(error) });
    }
  }

  private async readLive(tenantId: string): Promise<readonly Task[]> {
    const page = await this.options.reads.pageTasks(
      tenantId,
      {
        statuses: LIVE_STATUSES,
        model: null,
        projectId: null,
        createdAfter: null,
        createdBefore: null,
      },
      { limit: LOOK_MAX, afterId: null, beforeId: null, fromEnd: false },
    );
    return [...page.items].reverse();
  }

  private tell(entry: Followed, tasks: readonly Task[]): void {
    for (const task of tasks) {
      if (isTerminal(task.status)) entry.live.delete(task.id);
      else entry.live.add(task.id);
      for (const mailbox of [...entry.mailboxes]) mailbox.put(task);
    }
  }
}
