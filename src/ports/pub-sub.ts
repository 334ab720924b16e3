/**
 * Fan-out to whoever listens now; never a source of facts. A message may be lost or repeated: subscribers read Postgres.
 *
 * Contract, checked by test/contract/pub-sub: a published message reaches every present subscriber of its topic in every
 * process; `unsubscribe` leaves nothing behind; the connection comes back by itself and then calls `onReconnect`,
 * since messages may have been missed. Payloads are at most 4 kB of JSON.
 */
export interface PubSub {
  publish(topic: string, payload: Readonly<Record<string, unknown>>): Promise<void>;
  subscribe(
    topic: string,
    listener: (payload: Readonly<Record<string, unknown>>) => void,
    onReconnect: () => void,
  ): Promise<() => Promise<void>>;
  close(): Promise<void>;
}
