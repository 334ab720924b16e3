import { randomUUID } from 'node:crypto';

import { eventually } from '../../support/eventually';
import {
  abortUpload,
  approveAsset,
  approveTask,
  cancelTask,
  completeUpload,
  createQuote,
  createTask,
  grant,
  importInvoice,
  openPartsUpload,
  openUpload,
  sendBytes,
  sendPart,
} from './client-calls';
import type { CrashProduct } from './crash-product';

/** What a use case came to, when everything about it has ended. */
export interface Ended {
  readonly kind: 'generation' | 'asset' | 'grant';
  readonly id: string;
  readonly status: string;
}

/** A use case from its first request to its end; rejects when the end is another than the one it must come to. */
export type Scenario = (product: CrashProduct) => Promise<Ended>;

/** Bounds against hanging, not measures of speed: the machine may be busy. */
const END_LIMIT_MS = 180_000;
const STEP_LIMIT_MS = 60_000;
const LOOK_AGAIN_MS = 100;
const UPLOADS_MAX = 4;
const ENDS = ['SUCCEEDED', 'CANCELED', 'FAILED_FINAL', 'EXPIRED'];

const look = async <T>(
  product: CrashProduct,
  what: string,
  sql: string,
  values: readonly unknown[],
  limitMs = STEP_LIMIT_MS,
): Promise<T> =>
  eventually(what, async () => (await product.rows<T>(sql, values))[0], limitMs, LOOK_AGAIN_MS);

const ending = async (
  product: CrashProduct,
  id: string,
  expected: readonly string[],
): Promise<Ended> => {
  const { status } = await look<{ status: string }>(
    product,
    `generation ${id} has ended`,
    // Where the ledger was out of reach the hold is closed a moment after the end.
    `SELECT status FROM generation_tasks WHERE id = $1 AND status = ANY ($2)
       AND NOT EXISTS (SELECT 1 FROM holds WHERE task_id = $1 AND status = 'OPEN')`,
    [id, ENDS],
    END_LIMIT_MS,
  ).catch(async (error: unknown) => {
    throw new Error(`${String(error)}\n${await describeTask(product, id)}`);
  });
  if (!expected.includes(status)) {
    throw new Error(`generation ${id} ended ${status} and not ${expected.join(' or ')}`);
  }
  return { kind: 'generation', id, status };
};

const assetAt = async (
  product: CrashProduct,
  id: string,
  expected: string,
  limitMs = END_LIMIT_MS,
): Promise<Ended> => {
  await look(
    product,
    `asset ${id} is ${expected}`,
    'SELECT id FROM assets WHERE id = $1 AND status = $2',
    [id, expected],
    limitMs,
  );
  return { kind: 'asset', id, status: expected };
};

const describeTask = async (product: CrashProduct, id: string): Promise<string> => {
  const parts = await Promise.all(
    [
      'SELECT status, version, updated_at, schedule_at, wait_reason FROM generation_tasks WHERE id = $1',
      'SELECT status, job_id, lease_until, next_poll_at, poll_errors FROM task_attempts WHERE task_id = $1',
      "SELECT consumer_group, type, status, deliveries, available_at, last_error FROM bus_messages WHERE envelope->'payload'->>'taskId' = $1::text",
      'SELECT type, ignored_reason, observed_at FROM task_state_events WHERE task_id = $1 ORDER BY event_id',
    ].map((sql) => product.rows<Record<string, unknown>>(sql, [id])),
  );
  return parts
    .flat()
    .map((row) => JSON.stringify(row))
    .join('\n');
};

/** To the playable end, with real media. */
const clip: Scenario = async (product) => ending(product, await createTask(product), ['SUCCEEDED']);

const faulty =
  (
    fault: string | readonly string[],
    end: string,
    params: Record<string, unknown> = {},
  ): Scenario =>
  async (product) =>
    ending(product, await createTask(product, { options: { ...params, fault } }), [end]);

/** To an end that costs no media: the provider withholds its output and charges nothing. */
const withheld = faulty('filtered', 'FAILED_FINAL');

const jobKnown = (product: CrashProduct, id: string): Promise<unknown> =>
  look(
    product,
    `the job of ${id} is known`,
    "SELECT id FROM task_attempts WHERE task_id = $1 AND status IN ('ACKED', 'RUNNING')",
    [id],
  );

const cancel: Scenario = async (product) => {
  const id = await createTask(product, { options: { fault: 'hang' } });
  await jobKnown(product, id);
  await cancelTask(product, id);
  return ending(product, id, ['CANCELED']);
};

const quoted: Scenario = async (product) => {
  const quoteId = await createQuote(product);
  const id = await createTask(product, { quoteId, options: { fault: 'filtered' } });
  return ending(product, id, ['FAILED_FINAL']);
};

/** Sends a picture; when its time ran out while the API was away, another upload is opened, as a client does. */
const sendPicture = async (product: CrashProduct, fileName?: string): Promise<string> => {
  for (let tries = 1; ; tries += 1) {
    const opened = await openUpload(product, fileName);
    try {
      await sendBytes(opened);
      await completeUpload(product, opened.assetId);
      return opened.assetId;
    } catch (error) {
      if (tries === UPLOADS_MAX || !/expired/.test(String(error))) throw error;
    }
  }
};

const upload: Scenario = async (product) => assetAt(product, await sendPicture(product), 'READY');

const partsUpload: Scenario = async (product) => {
  const { assetId, bytes } = await openPartsUpload(product);
  await completeUpload(product, assetId, await sendPart(product, assetId, bytes));
  return assetAt(product, assetId, 'READY');
};

/** The client sends a part and gives the upload up. */
const abortedUpload: Scenario = async (product) => {
  const { assetId, bytes } = await openPartsUpload(product);
  await sendPart(product, assetId, bytes);
  await abortUpload(product, assetId);
  return assetAt(product, assetId, 'FAILED');
};

/** The client sends its bytes and walks away. */
const abandonedUpload: Scenario = async (product) => {
  const opened = await openUpload(product);
  await sendBytes(opened);
  return assetAt(product, opened.assetId, 'FAILED');
};

const uploadReview: Scenario = async (product) => {
  const id = await sendPicture(product, 'nude.jpg');
  await assetAt(product, id, 'IN_REVIEW');
  await approveAsset(product, id);
  return assetAt(product, id, 'READY');
};

const promptReview: Scenario = async (product) => {
  const id = await createTask(product, {
    prompt: 'a deepfake of nobody',
    options: { fault: 'filtered' },
  });
  await approveTask(product, id);
  return ending(product, id, ['FAILED_FINAL']);
};

const grantOnce: Scenario = async (product) => {
  const reference = randomUUID();
  await grant(product, reference);
  return { kind: 'grant', id: reference, status: 'GRANTED' };
};

/** The provider is overloaded for one create: whichever gets the refusal goes through RETRY_WAIT. */
const overloaded: Scenario = async (product) => {
  await product.queueFault('reject_503');
  return clip(product);
};

/** The deadline is brought forward while the provider still works: it is asked to cancel. */
const overdue: Scenario = async (product) => {
  const id = await createTask(product, { options: { fault: 'hang' } });
  await jobKnown(product, id);
  await product.rows('UPDATE generation_tasks SET deadline_at = now() WHERE id = $1', [id]);
  return ending(product, id, ['EXPIRED']);
};

/** The bus loses the message of the next step: nobody but the reconciler knows. */
const lostMessage: Scenario = async (product) => {
  const id = await createTask(product);
  // The fetcher may be dying for another point: until the message is caught, or was handled.
  await eventually(
    `the fetch of ${id} was asked for`,
    () =>
      product.whilePaused('output-fetch', () =>
        eventually(
          `the message of ${id} is on the bus`,
          async () => {
            const [lost] = await product.rows<{ id: string }>(
              `DELETE FROM bus_messages WHERE type = 'output.fetch.requested'
                 AND envelope->'payload'->>'taskId' = $1::text RETURNING id::text`,
              [id],
            );
            const [past] = await product.rows(
              "SELECT id FROM generation_tasks WHERE id = $1 AND status = 'SUCCEEDED'",
              [id],
            );
            return lost ?? past;
          },
          STEP_LIMIT_MS,
        ),
      ),
    STEP_LIMIT_MS,
  );
  return ending(product, id, ['SUCCEEDED']);
};

/** The reducer is slow: what the provider said waits without an attempt until the reconciler asks again. */
const slowReducer: Scenario = async (product) => {
  const lives = product.livesOf('reconciler');
  const id = await product.whilePaused('reducer', async () => {
    const task = await createTask(product, { options: { fault: 'filtered' } });
    await eventually(
      'what was said was asked for again',
      async () => {
        if (product.livesOf('reconciler') > lives) return true;
        const [again] = await product.rows(
          `SELECT m.id FROM provider_events e JOIN task_attempts a ON a.request_key = e.request_key
             JOIN outbox_events m ON m.aggregate_id = e.id AND m.available_at > e.received_at + interval '1 second'
           WHERE a.task_id = $1`,
          [task],
        );
        return again;
      },
      8_000,
    ).catch(() => undefined);
    return task;
  });
  return ending(product, id, ['FAILED_FINAL']);
};

/** The slots are lost while a job runs: they are made again from the attempts. */
const lostSlots: Scenario = async (product) => {
  const id = await createTask(product, { options: { fault: 'hang' } });
  const { holder } = await look<{ holder: string }>(
    product,
    `${id} holds a slot`,
    `SELECT l.holder FROM slot_leases l JOIN task_attempts a ON a.id = l.holder
     WHERE a.task_id = $1 AND a.status IN ('ACKED', 'RUNNING')`,
    [id],
  );
  await product.rows('DELETE FROM slot_leases WHERE holder = $1', [holder]);
  await look(
    product,
    `the slot of ${id} is held again`,
    'SELECT holder FROM slot_leases WHERE holder = $1',
    [holder],
  );
  await cancelTask(product, id);
  return ending(product, id, ['CANCELED']);
};

/** The ledger is out of reach while a generation ends: its settlement is a message, and booked once. */
const deferred: Scenario = async (product) => {
  const lives = product.livesOf('reducer');
  const id = await createTask(product, { options: { fault: 'hang' } });
  await jobKnown(product, id);
  // Shared, so that several at once do not wait for each other; every booking waits for all of them.
  await product.whileLocked('SELECT 1 FROM accounts WHERE tenant_id = $1 FOR SHARE', async () => {
    await cancelTask(product, id);
    await eventually(
      `the settlement of ${id} was put off`,
      async () => {
        const [asked] = await product.rows(
          "SELECT id FROM outbox_events WHERE aggregate_id = $1 AND type = 'billing.settlement.requested'",
          [id],
        );
        // Settled before the lock was there, or its reducer has died: there is nothing to wait for.
        const [over] = await product.rows(
          "SELECT id FROM holds WHERE task_id = $1 AND status = 'CLOSED'",
          [id],
        );
        return asked ?? over ?? (product.livesOf('reducer') > lives ? true : null);
      },
      STEP_LIMIT_MS,
      LOOK_AGAIN_MS,
    );
  });
  return ending(product, id, ['CANCELED']);
};

/** The provider's own invoice of a charge, imported until there is an answer: its item counts once. */
const invoiced: Scenario = async (product) => {
  const end = await scenarios.charged(product);
  const [attempt] = await product.rows<{ key: string }>(
    'SELECT request_key AS key FROM task_attempts WHERE task_id = $1',
    [end.id],
  );
  const line = (await product.invoiceLines()).find((each) => each.includes(attempt?.key ?? '?'));
  if (line === undefined) throw new Error(`The provider's invoice lacks ${end.id}`);
  const { at, reference } = JSON.parse(line) as Readonly<Record<'at' | 'reference', string>>;
  await importInvoice(product, `${line}\n`, new Date(at));
  const counted = await product.rows(
    'SELECT id FROM provider_invoice_items WHERE reference = $1 AND attempt_id IS NOT NULL',
    [reference],
  );
  if (counted.length !== 1)
    throw new Error(`The charge of ${end.id} counts ${counted.length} times`);
  return end;
};

export const scenarios = {
  abortedUpload,
  partsUpload,
  clip,
  withheld,
  cancel,
  quoted,
  upload,
  abandonedUpload,
  uploadReview,
  promptReview,
  grantOnce,
  overloaded,
  overdue,
  lostMessage,
  slowReducer,
  lostSlots,
  deferred,
  invoiced,
  /** Failed and charged: a cost to book, and no media. */
  charged: faulty('failed_charged', 'FAILED_FINAL'),
  polled: faulty(['callback_never', 'filtered'], 'FAILED_FINAL'),
  /** The answer of the create is lost: the job is found by asking. */
  unknown: faulty(['answer_lost', 'filtered'], 'FAILED_FINAL'),
  /** The answer comes after the lease has ended: the reconciler takes the worker for dead. */
  lateAnswer: faulty(['slow', 'callback_never', 'filtered'], 'FAILED_FINAL', { slow_ms: 6_000 }),
  staleUrl: faulty('url_expired', 'SUCCEEDED'),
} as const satisfies Record<string, Scenario>;
