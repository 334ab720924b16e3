import { receiveCallback, type CallbackOutcome } from '../../../src/flow/observe/receive-callback';
import type { CallbackReceiver, ReceivedCallback } from '../callback-receiver';
import { eventually } from '../eventually';
import type { FlowParts } from './flow-parts';

/** The provider's callbacks of one test, held until the test lets them in. */
export interface HeldCallbacks {
  /** Waits until the provider has sent a callback that reports one of `statuses` for the attempt. */
  arrived(requestKey: string, ...statuses: string[]): Promise<ReceivedCallback>;
  /** All that have arrived for the attempt, in order. */
  of(requestKey: string): ReceivedCallback[];
  /** Lets one in, as the callback server would. */
  admit(callback: ReceivedCallback): Promise<CallbackOutcome>;
}

export const statusOf = (callback: ReceivedCallback): string =>
  (JSON.parse(callback.rawBody.toString('utf8')) as { data: { status: string } }).data.status;

export const holdCallbacks = (receiver: CallbackReceiver, parts: FlowParts): HeldCallbacks => {
  const of = (requestKey: string): ReceivedCallback[] =>
    receiver.received.filter((each) => each.path.endsWith(`/${requestKey}`));
  return {
    of,
    arrived: (requestKey, ...statuses) =>
      eventually(
        `a callback ${statuses.join(' or ')}`,
        () => of(requestKey).find((each) => statuses.includes(statusOf(each))),
        30_000,
      ),
    admit: (callback) => {
      const [, providerId, requestKey] = callback.path.split('/').slice(1);
      return receiveCallback(
        parts.context,
        {
          gatewayOf: (id) => (id === 'sandbox' ? parts.provider.gatewayOf(id) : null),
          accountsOf: () => Promise.resolve([parts.account]),
        },
        {
          providerId: providerId ?? '',
          requestKey: requestKey ?? '',
          headers: callback.headers,
          rawBody: callback.rawBody,
        },
      );
    },
  };
};
