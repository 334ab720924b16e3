import type {
  ProviderAccount,
  ProviderGateway,
  SubmitRequest,
} from '../../../src/ports/provider-gateway';
import type { ReceivedCallback } from '../../support/callback-receiver';

/** What the provider under test is told to do with one job; each adapter's harness knows how to ask. */
export type Behaviour =
  | 'WELL'
  | 'HANG'
  | 'ANSWER_LOST'
  | 'ANSWER_CUT'
  | 'ANSWER_502'
  | 'ANSWER_504'
  | 'ANSWER_NO_ID'
  | 'ANSWER_LATE'
  | 'NOT_CREATED_LOST'
  | 'REFUSE_400'
  | 'REFUSE_401'
  | 'REFUSE_402'
  | 'REFUSE_422'
  | 'REFUSE_422_CHARGED'
  | 'REFUSE_429'
  | 'REFUSE_500'
  | 'REFUSE_503'
  | 'POLLS_500_THREE_TIMES'
  | 'UNKNOWN_STATUS'
  | 'FILTERED'
  | 'FAILED_CHARGED'
  | 'CANCEL_REFUSED';

/** The adapter under test with a provider it can talk to. */
export interface GatewayHarness {
  readonly gateway: ProviderGateway;
  readonly account: ProviderAccount;
  /** Moves the adapter's clock. */
  setNow(now: Date): void;
  now(): Date;
  /** A request with a key of its own that makes the provider behave so. */
  request(behaviour: Behaviour, overrides?: Partial<SubmitRequest>): SubmitRequest;
  /** The provider's own count of creates that reached it with this key. */
  countPosts(requestKey: string): Promise<number>;
  countJobs(requestKey: string): Promise<number>;
  /** Genuine callbacks of the job of this request, as they came over the wire. */
  callbacksOf(request: SubmitRequest): readonly ReceivedCallback[];
  close(): Promise<void>;
}
