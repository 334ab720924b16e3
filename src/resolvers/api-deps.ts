import type { Router } from 'express';

import type { FlowContext } from '../flow/flow-context';
import type { ProviderDeps } from '../flow/submit/submit-attempt';
import type { ApiKeys } from '../ports/api-keys';
import type { InvoiceReads } from '../ports/invoice-reads';
import type { HealthReport } from '../ports/health';
import type { Log } from '../ports/log';
import type { MessageBus } from '../ports/message-bus';
import type { Metrics, MetricsPage } from '../ports/metrics';
import type { Moderation } from '../ports/moderation';
import type { ObjectStore } from '../ports/object-store';
import type { OperatorReads } from '../ports/operator-reads';
import type { PubSub } from '../ports/pub-sub';
import type { ReadModel } from '../ports/read-model';
import type { Slots } from '../ports/slots';
import type { Tracing } from '../ports/tracing';
import type { RateGateDeps } from './rate-gate';

/** What the API stands on; wired by the container. */
export interface ApiDeps extends RateGateDeps {
  readonly context: FlowContext;
  readonly slots: Slots;
  /** Asks providers of their jobs, for an operator; nothing is ever submitted from here. */
  readonly provider: Pick<ProviderDeps, 'gatewayOf' | 'accountOf'>;
  readonly bus: Pick<MessageBus, 'replayDead' | 'deliverNow' | 'deadGroupsOf'>;
  /** Tells the scheduler that waiting generations may go. */
  readonly ringScheduler: () => void;
  readonly moderation: Moderation;
  readonly objects: ObjectStore;
  readonly pubSub: PubSub;
  readonly reads: ReadModel;
  readonly invoices: InvoiceReads;
  readonly operatorReads: OperatorReads;
  readonly apiKeys: ApiKeys;
  /** Serves the signed URLs of the disk store at `/objects`; null where objects are served elsewhere. */
  readonly objectRoutes: Router | null;
  readonly log: Log;
  /** What this process stands on; `drain` makes it say that it wants no new requests. */
  readonly health: { read(): Promise<HealthReport>; drain(): void; isDraining(): boolean };
  /** Served at `/metrics`; null where another port serves them. */
  readonly metricsPage: MetricsPage | null;
  readonly metrics: Pick<Metrics, 'count' | 'observe'>;
  readonly tracing: Pick<Tracing, 'span'>;
  /** Whose word about the client's address is taken, as express' `trust proxy` has it; null: nobody's. */
  readonly trustedProxies: string | null;
  /** Where browsers reach this server, without a path. */
  readonly publicUrl: string;
  /** Hides suggestions of near names in errors. */
  readonly production: boolean;
  /** How often open sockets are asked whether their key still lives; at most 5,000. */
  readonly revocationCheckMs: number;
  /** How long a create may take, or wait for another one with its key, before it is told to come back. */
  readonly createWaitMs?: number;
  /** How often the rows behind open subscriptions are read without being rung for. */
  readonly liveReadMs?: number;
}
