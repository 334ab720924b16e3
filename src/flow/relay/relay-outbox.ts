import { crashpoint } from '../../ports/crash-points';
import type { Log } from '../../ports/log';
import type { MessageBus } from '../../ports/message-bus';
import { groupsOf, type ConsumerGroup, type Envelope } from '../../ports/messages';
import type { OutboxMover, OutboxRelayStore } from '../../ports/stores/message-store';

/** Times in milliseconds. */
export interface OutboxRelaySettings {
  /** A claimed row that was neither marked nor given back is claimed again after this. */
  readonly leaseMs: number;
  /** Pause before a row that failed alone is tried again. */
  readonly retryMs: number;
  /** A row that fails alone is dead after this many tries. */
  readonly triesMax: number;
  /** Pause after the bus took nothing; doubled with each further failure. */
  readonly outageMsFirst: number;
  readonly outageMsMax: number;
}

export interface OutboxRelayOptions {
  readonly store: OutboxRelayStore;
  readonly bus: Pick<MessageBus, 'publish'>;
  readonly log: Log;
  readonly settings?: OutboxRelaySettings;
  /** Called after each move with the groups that have something new: the place to ring their bells. */
  readonly onMoved?: (groups: readonly ConsumerGroup[]) => void;
}

interface Claimed {
  readonly envelope: Envelope;
  readonly availableAt: Date;
}

interface Failed {
  readonly row: Claimed;
  readonly error: string;
}

interface SortedOut {
  readonly published: readonly Claimed[];
  /** Failed where others succeeded: the fault is theirs. */
  readonly failed: readonly Failed[];
  readonly rest: readonly Claimed[];
}

const OUTBOX_RELAY_SETTINGS: OutboxRelaySettings = {
  leaseMs: 60_000,
  retryMs: 10_000,
  triesMax: 20,
  outageMsFirst: 500,
  outageMsMax: 5_000,
};

/** So many failures in a row mean that the bus is away, and not that so many messages are bad. */
const FAILURES_OF_AN_OUTAGE = 3;
/** An outage is no fault of a row: it never dies of one. */
const TRIES_WITHOUT_END = 2_147_483_647;

/**
 * The relay between an outbox and a bus that are not one database: claim, publish, mark. It may publish twice, when it
 * dies before the mark or the bus took a batch that it refused; it never passes over a row: whatever was claimed is
 * marked, given back, or comes back by itself when the lease ends.
 *
 * A batch that fails is published row by row, so that one bad message cannot hold up or kill the others. When rows fail
 * one after the other the bus is away: what is left is given back without counting against it, and the relay pauses,
 * then probes with one row. Rows given back stand behind those that wait, so bad ones cannot block the probe.
 */
export const createOutboxRelay = (options: OutboxRelayOptions): OutboxMover => {
  const { store, bus, log, settings = OUTBOX_RELAY_SETTINGS, onMoved } = options;
  let outages = 0;
  let pausedUntil: Date | null = null;

  const moveBatch = async (now: Date, limit: number): Promise<number> => {
    if (pausedUntil !== null && now < pausedUntil) return 0;
    const leaseUntil = new Date(now.getTime() + settings.leaseMs);
    const claimed = await store.claim(now, leaseUntil, outages > 0 ? 1 : limit);
    if (claimed.length === 0) return 0;
    crashpoint('relay.after_claim_before_publish');
    const failure = await tryPublish(claimed, now);
    if (failure === null) {
      await finish(claimed, now);
      return claimed.length;
    }
    // A batch of one was tried alone already.
    return claimed.length === 1 ? pause(claimed, failure, now) : publishOneByOne(claimed, now);
  };

  const tryPublish = async (rows: readonly Claimed[], now: Date): Promise<string | null> => {
    try {
      await bus.publish(rows, now);
      return null;
    } catch (error) {
      log.warn('publishing failed', { count: rows.length, error: String(error) });
      return String(error);
    }
  };

  /** The bus has these rows. */
  const finish = async (rows: readonly Claimed[], now: Date): Promise<void> => {
    crashpoint('relay.after_publish_before_mark');
    await store.markPublished(idsOf(rows), now);
    outages = 0;
    pausedUntil = null;
    onMoved?.([...new Set(rows.flatMap(({ envelope }) => groupsOf(envelope.eventType)))]);
  };

  const publishOneByOne = async (rows: readonly Claimed[], now: Date): Promise<number> => {
    const { published, failed, rest } = await sortOut(rows, now);
    if (published.length > 0) await finish(published, now);
    const retryAt = new Date(now.getTime() + settings.retryMs);
    for (const { row, error } of failed) {
      await store.markFailed(idsOf([row]), error, retryAt, settings.triesMax);
    }
    if (rest.length > 0) await pause(rest, 'the bus takes nothing', now);
    return published.length;
  };

  /** Tries each row until the bus seems to be away; `rest` is what then says nothing about its rows. */
  const sortOut = async (rows: readonly Claimed[], now: Date): Promise<SortedOut> => {
    const published: Claimed[] = [];
    const failed: Failed[] = [];
    let inARow: Failed[] = [];
    for (const [index, row] of rows.entries()) {
      const error = await tryPublish([row], now);
      if (error === null) {
        published.push(row);
        failed.push(...inARow);
        inARow = [];
        continue;
      }
      inARow.push({ row, error });
      if (inARow.length < FAILURES_OF_AN_OUTAGE) continue;
      const untried = rows.slice(index + 1);
      return { published, failed, rest: [...inARow.map((each) => each.row), ...untried] };
    }
    if (published.length === 0) return { published, failed, rest: rows };
    return { published, failed: [...failed, ...inARow], rest: [] };
  };

  const pause = async (rows: readonly Claimed[], error: string, now: Date): Promise<number> => {
    const pauseMs = Math.min(settings.outageMsMax, settings.outageMsFirst * 2 ** outages);
    outages += 1;
    pausedUntil = new Date(now.getTime() + pauseMs);
    log.warn('the bus takes nothing; the relay pauses', { pauseMs, outages, error });
    await store.markFailed(idsOf(rows), error, pausedUntil, TRIES_WITHOUT_END);
    return 0;
  };

  const nextDueAt = async (): Promise<Date | null> => {
    const due = await store.nextDueAt();
    return due !== null && pausedUntil !== null && due < pausedUntil ? pausedUntil : due;
  };

  const lag: OutboxMover['lag'] = async (now) => {
    const [pendingMs, openWrite, unknown] = await Promise.all([
      store.oldestPendingAgeMs(now),
      store.longestOpenWrite(),
      store.countUnknown(),
    ]);
    return { pendingMs, openWrite, unknown };
  };

  return { moveBatch, lag, nextDueAt };
};

const idsOf = (rows: readonly Claimed[]): string[] => rows.map(({ envelope }) => envelope.eventId);
