import type { MessageView } from 'rocketmq-client-nodejs';

import type { SafeConsumer } from './clients';

const GIVE_BACK_MS = 1_000;

/**
 * A message that the broker keeps from others for a while. Its handle changes with each renewal, so its calls go one after the other.
 * The broker would renew, and then repeat, what was acknowledged before: that is refused here.
 */
export class Lease {
  #ended = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly consumer: SafeConsumer,
    readonly view: MessageView,
    private untilMs: number,
  ) {}

  /** 1 for the first delivery. */
  get deliveries(): number {
    return Math.max(1, this.view.deliveryAttempt ?? 1);
  }

  msLeft(): number {
    return this.#ended ? 0 : this.untilMs - performance.now();
  }

  /** False: it is not ours any more. */
  extend(leaseMs: number): Promise<boolean> {
    return this.#inTurn(async () => {
      if (this.msLeft() <= 0) return false;
      const untilMs = performance.now() + leaseMs;
      await this.consumer.changeInvisibleDuration(this.view, leaseMs);
      this.untilMs = untilMs;
      return true;
    });
  }

  /** Ends the message for the group; false when it was not ours any more. */
  acknowledge(): Promise<boolean> {
    return this.#inTurn(async () => {
      if (this.msLeft() <= 0) return false;
      await this.consumer.ack(this.view);
      this.#ended = true;
      return true;
    });
  }

  /** Others may have it. */
  giveBack(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.msLeft() <= GIVE_BACK_MS) return;
      await this.consumer.changeInvisibleDuration(this.view, GIVE_BACK_MS);
      this.#ended = true;
    });
  }

  #inTurn<T>(call: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(call, call);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}
