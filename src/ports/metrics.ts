/** What a metrics collector reads of this process. */
export interface MetricsPage {
  readonly contentType: string;
  text(): Promise<string>;
}

interface Metric {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Each takes few values: names of providers, groups, fields of the schema, outcomes; never an id or a tenant. */
  readonly labels: readonly string[];
}

/** Every metric of the product, with its unit last. Dashboards and alerts name these and the runtime's own, and nothing else. */
export const METRICS = {
  aivedio_generations_total: {
    kind: 'counter',
    help: 'Requests for a generation, by what became of them: CREATED, REPLAYED, or the code of the refusal.',
    labels: ['outcome'],
  },
  aivedio_submissions_total: {
    kind: 'counter',
    help: 'Submits sent to a provider, by how they came back; its rate is the submission rate.',
    labels: ['provider', 'outcome'],
  },
  aivedio_polls_total: {
    kind: 'counter',
    help: 'Questions to a provider about one job; the rate of UNAVAILABLE is the error rate of polling.',
    labels: ['provider', 'outcome'],
  },
  aivedio_provider_request_duration_seconds: {
    kind: 'histogram',
    help: 'How long a provider took to answer.',
    labels: ['provider', 'operation'],
  },
  aivedio_callbacks_total: {
    kind: 'counter',
    help: 'Callbacks whose signature was looked at, by verdict: OK or the reason of the refusal.',
    labels: ['provider', 'outcome'],
  },
  aivedio_callback_lag_seconds: {
    kind: 'histogram',
    help: "From a provider's own time of an event to its callback here.",
    labels: ['provider'],
  },
  aivedio_messages_total: {
    kind: 'counter',
    help: 'Messages handled, by group and outcome.',
    labels: ['group', 'outcome'],
  },
  aivedio_message_duration_seconds: {
    kind: 'histogram',
    help: 'How long the use case of a message took.',
    labels: ['group'],
  },
  aivedio_worker_utilization_ratio: {
    kind: 'gauge',
    help: 'Messages in hand over the most that this process takes at once; of the group media, the utilization of the media workers.',
    labels: ['group'],
  },
  aivedio_transactions_total: {
    kind: 'counter',
    help: 'Transactions of use cases: COMMITTED, ROLLED_BACK, VERSION_CONFLICT, DATABASE_UNAVAILABLE.',
    labels: ['outcome'],
  },
  aivedio_graphql_operation_duration_seconds: {
    kind: 'histogram',
    help: 'From the parsed operation to its answer, by its first root field.',
    labels: ['operation', 'field', 'outcome'],
  },
  aivedio_part_up: {
    kind: 'gauge',
    help: '1: the part answered when it was last asked; 0: it did not.',
    labels: ['part'],
  },
  aivedio_queue_depth: {
    kind: 'gauge',
    help: 'Generations that wait for a place at a provider.',
    labels: [],
  },
  aivedio_queue_age_p95_seconds: {
    kind: 'gauge',
    help: 'Nineteen of twenty waiting generations have waited for less.',
    labels: [],
  },
  aivedio_provider_active_jobs: {
    kind: 'gauge',
    help: 'Attempts that hold a place at a provider.',
    labels: ['provider'],
  },
  aivedio_provider_jobs_limit: {
    kind: 'gauge',
    help: 'Places at a provider, all its active accounts together.',
    labels: ['provider'],
  },
  aivedio_submit_unknown_count: {
    kind: 'gauge',
    help: 'Attempts of which nobody knows whether the provider has a job.',
    labels: ['provider'],
  },
  aivedio_output_fetch_backlog: {
    kind: 'gauge',
    help: 'Generations whose output is not in our store yet.',
    labels: [],
  },
  aivedio_output_url_expiry_risk: {
    kind: 'gauge',
    help: 'Outputs not in our store whose URL ends within 15 minutes.',
    labels: [],
  },
  aivedio_media_backlog: {
    kind: 'gauge',
    help: 'Generations whose output is being made playable.',
    labels: [],
  },
  aivedio_outbox_oldest_age_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest message that should have left; new generations are refused past AIVEDIO_RELAY_LAG_REFUSE_MS.',
    labels: [],
  },
  aivedio_outbox_unknown_messages: {
    kind: 'gauge',
    help: 'Messages of types that this version does not know; they wait for one that does, and hold nothing up.',
    labels: [],
  },
  aivedio_mq_consumer_lag: {
    kind: 'gauge',
    help: 'Messages that are due and that the group has not taken, on the bus of the database.',
    labels: ['group'],
  },
  aivedio_orphan_object_count: {
    kind: 'gauge',
    help: 'Open findings of objects that no row names.',
    labels: [],
  },
  aivedio_open_findings: {
    kind: 'gauge',
    help: 'Anomalies that nobody has resolved, by kind.',
    labels: ['kind'],
  },
  aivedio_reserved_credit_age_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest reservation that is still open.',
    labels: [],
  },
} as const satisfies Record<string, Metric>;

export type MetricName = keyof typeof METRICS;
type NameOf<Kind extends Metric['kind']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['kind'] extends Kind ? Name : never;
}[MetricName];
export type CounterName = NameOf<'counter'>;
export type GaugeName = NameOf<'gauge'>;
export type HistogramName = NameOf<'histogram'>;
export type LabelsOf<Name extends MetricName> = Readonly<
  Record<(typeof METRICS)[Name]['labels'][number], string>
>;

/** One value of a gauge that somebody looked up. */
export interface Figure {
  readonly name: GaugeName;
  /** Of the metric's one label; null where it has none. */
  readonly label: string | null;
  readonly value: number;
}

/** Counts what happens, where it happens. Nothing here may throw for a value it is given. */
export interface Metrics {
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>): void;
  /** Durations and lags, in seconds. */
  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void;
  set<Name extends GaugeName>(name: Name, labels: LabelsOf<Name>, value: number): void;
  /** Asked when the page is read, at most every few seconds. What failed to look leaves its gauges out rather than old. */
  look(names: readonly GaugeName[], read: () => Promise<readonly Figure[]>): void;
}
