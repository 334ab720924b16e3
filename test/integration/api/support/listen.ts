import type { Client } from 'graphql-ws';

import { eventually } from '../../../support/eventually';

export interface Listening {
  /* eslint-disable-next-line @typescript-eslint/no-explicit-any -- events are judged by the tests' expectations */
  readonly events: any[];
  readonly errors: readonly {
    readonly message: string;
    readonly extensions: Readonly<Record<string, unknown>>;
  }[];
  /** How it ended; null while it runs. */
  end(): 'COMPLETE' | 'ERROR' | null;
  /** Why the socket closed, where that ended it. */
  closeCode(): number | null;
  untilEvents(count: number): Promise<void>;
  untilEnd(): Promise<'COMPLETE' | 'ERROR'>;
  stop(): void;
}

/** Subscribes and keeps what comes. */
export const listen = (
  client: Client,
  query: string,
  variables: Record<string, unknown> = {},
): Listening => {
  const events: unknown[] = [];
  const errors: Listening['errors'][number][] = [];
  let end: 'COMPLETE' | 'ERROR' | null = null;
  let closeCode: number | null = null;
  const stop = client.subscribe(
    { query, variables },
    {
      next: (event) => {
        // What fails when a subscription is opened comes as its only event.
        if (event.data == null) {
          errors.push(...((event.errors ?? []) as unknown as typeof errors));
          end = 'ERROR';
        } else {
          events.push(Object.values(event.data)[0]);
        }
      },
      error: (error) => {
        end = 'ERROR';
        if (Array.isArray(error)) errors.push(...(error as typeof errors));
        else closeCode = (error as { code?: number }).code ?? -1;
      },
      complete: () => (end ??= 'COMPLETE'),
    },
  );
  return {
    events,
    errors,
    end: () => end,
    closeCode: () => closeCode,
    untilEvents: async (count) => {
      await eventually(`${count} events`, () => (events.length >= count ? true : null));
    },
    untilEnd: () => eventually('the end of the subscription', () => end),
    stop,
  };
};
