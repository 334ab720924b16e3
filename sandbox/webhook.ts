import { createHmac } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { Agent, request } from 'undici';

export interface Delivery {
  readonly url: string;
  /** Stable over all tries of one event; receivers recognise repeats by it. */
  readonly webhookId: string;
  readonly body: string;
}

export interface DeliveryRecord {
  readonly webhook_id: string;
  readonly tries: number;
  /** The status of the last answer, null when there was none. */
  readonly last_status: number | null;
  readonly outcome: 'delivered' | 'given_up' | 'stopped';
}

/** The value of `webhook-signature` for one try (Standard Webhooks, symmetric). */
export function signWebhook(
  secret: string,
  webhookId: string,
  timestampSeconds: number,
  body: string,
): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signed = `${webhookId}.${timestampSeconds}.${body}`;
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}

const RECORDS_MAX = 10_000;
const ANSWER_TIMEOUT_MS = 5_000;

/** Delivers signed callbacks; tries again with doubling waits until an answer is 2xx or it gives up. */
export class WebhookSender {
  private readonly agent = new Agent({ connections: 16, connect: { timeout: ANSWER_TIMEOUT_MS } });
  private readonly stopping = new AbortController();
  readonly records: DeliveryRecord[] = [];

  constructor(
    private readonly options: {
      readonly secret: string;
      readonly backoffMs: number;
      readonly triesMax: number;
    },
  ) {
    // Every callback under way listens; Node's warning is meant for listeners that were forgotten.
    setMaxListeners(0, this.stopping.signal);
  }

  /**
   * Never rejects. `firstTry` ends when the first try was answered or failed; `done` when the event is
   * delivered (true), given up (true) or the sender was stopped (false).
   */
  send(delivery: Delivery): { readonly firstTry: Promise<void>; readonly done: Promise<boolean> } {
    const first = this.tryOnce(delivery);
    return {
      firstTry: first.then(() => undefined),
      done: first.then((status) => this.tryUntilDelivered(delivery, status)),
    };
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.agent.destroy();
  }

  private async tryUntilDelivered(
    delivery: Delivery,
    firstStatus: number | null,
  ): Promise<boolean> {
    let status = firstStatus;
    for (let tries = 1; ; tries += 1) {
      const delivered = status !== null && status >= 200 && status < 300;
      const stopped = this.stopping.signal.aborted && !delivered;
      if (delivered || stopped || tries >= this.options.triesMax) {
        const outcome = delivered ? 'delivered' : stopped ? 'stopped' : 'given_up';
        this.keep({ webhook_id: delivery.webhookId, tries, last_status: status, outcome });
        return !stopped;
      }
      await this.wait(this.options.backoffMs * 2 ** (tries - 1));
      status = await this.tryOnce(delivery);
    }
  }

  private async tryOnce(delivery: Delivery): Promise<number | null> {
    const timestampSeconds = Math.floor(Date.now() / 1000);
    const { webhookId, body, url } = delivery;
    try {
      const answer = await request(url, {
        method: 'POST',
        dispatcher: this.agent,
        headersTimeout: ANSWER_TIMEOUT_MS,
        bodyTimeout: ANSWER_TIMEOUT_MS,
        signal: this.stopping.signal,
        headers: {
          'content-type': 'application/json',
          'webhook-id': webhookId,
          'webhook-timestamp': String(timestampSeconds),
          'webhook-signature': signWebhook(this.options.secret, webhookId, timestampSeconds, body),
        },
        body,
      });
      await answer.body.dump();
      return answer.statusCode;
    } catch {
      // No answer is the ordinary reason for a further try; the record keeps that there was none.
      return null;
    }
  }

  private wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.stopping.signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.stopping.signal.addEventListener('abort', end, { once: true });
    });
  }

  private keep(record: DeliveryRecord): void {
    if (this.records.length >= RECORDS_MAX) this.records.shift();
    this.records.push(record);
  }
}
