/**
 * The path of the data, named once. Each stage has the same name in src/flow/, in metrics and in
 * test/flow/; ARCHITECTURE.md maps each to its worker.
 */
export const STAGES = [
  'upload',
  'create',
  'relay',
  'schedule',
  'submit',
  'observe',
  'reduce',
  'fetch',
  'media',
  'notify',
  'bill',
  'reconcile',
  'operate',
] as const;
export type Stage = (typeof STAGES)[number];

/** Worker processes by their public name (`npm run worker -- <name>`). */
export const WORKERS = [
  'asset-validator',
  'outbox-relay',
  'scheduler',
  'provider',
  'callback',
  'poller',
  'reducer',
  'output-fetch',
  'media',
  'notification',
  'billing',
  'reconciler',
] as const;
export type WorkerName = (typeof WORKERS)[number];
