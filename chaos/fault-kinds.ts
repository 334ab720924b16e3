/** Everything that is broken on purpose. What needs toxiproxy or root is left out where there is none, and said so. */
export const FAULT_KINDS = {
  worker_killed: 'SIGKILL of a worker',
  api_killed: 'SIGKILL of the API',
  worker_drained: 'SIGTERM of a worker, which drains',
  worker_paused: 'SIGSTOP of a worker past its lease, while another takes over',
  postgres_stopped: 'immediate stop of Postgres in an open transaction',
  postgres_killed: 'SIGKILL of Postgres',
  connections_cut: 'all connections to Postgres ended by the server',
  clock_moved: 'one more worker, whose clock is 30 s off',
  scratch_full: 'the scratch disk is full',
  provider_refusing: 'the provider answers 503',
  provider_slow: 'the provider answers late',
  answers_lost: 'answers of creates are lost',
  provider_killed: 'SIGKILL of the provider',
  provider_paused: 'an operator pauses the provider and resumes it',
  callbacks_blocked: 'callbacks do not arrive, and then come late',
  callbacks_replayed: 'raw callbacks come again, out of order',
  outbox_repeated: 'published messages are published again under their ids',
  broker_killed: 'SIGKILL of the broker of RocketMQ with its proxy',
  redis_killed: 'SIGKILL of Redis',
  redis_flushed: 'Redis loses all its keys',
  objects_stopped: 'the S3 server is stopped',
  network_latency: 'latency to Postgres and provider (toxiproxy)',
  network_reset: 'connections to Postgres and provider are reset (toxiproxy)',
  network_half_open: 'half-open connections to Postgres and provider (toxiproxy)',
} as const;
export type FaultKind = keyof typeof FAULT_KINDS;

export const NEEDS_TOXIPROXY: readonly FaultKind[] = [
  'network_latency',
  'network_reset',
  'network_half_open',
];
/** Only where the back ends are servers of their own. */
export const NEEDS_CLUSTER: readonly FaultKind[] = [
  'broker_killed',
  'redis_killed',
  'redis_flushed',
  'objects_stopped',
];
/** A small disk of its own must be mounted. */
export const NEEDS_MOUNT: readonly FaultKind[] = ['scratch_full'];
