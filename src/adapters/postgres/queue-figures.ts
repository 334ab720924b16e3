import type { Pool } from 'pg';

import { MESSAGE_TYPES } from '../../ports/messages';
import type { Figure, GaugeName } from '../../ports/metrics';
import { poolDatabase } from './database';
import { run } from './run-statement';

/** The gauges that `readQueueFigures` fills; a provider or group of which there is nothing to tell has no line. */
export const QUEUE_FIGURES: readonly GaugeName[] = [
  'aivedio_queue_depth',
  'aivedio_queue_age_p95_seconds',
  'aivedio_output_fetch_backlog',
  'aivedio_media_backlog',
  'aivedio_output_url_expiry_risk',
  'aivedio_provider_active_jobs',
  'aivedio_submit_unknown_count',
  'aivedio_provider_jobs_limit',
  'aivedio_outbox_oldest_age_seconds',
  'aivedio_outbox_unknown_messages',
  'aivedio_mq_consumer_lag',
  'aivedio_orphan_object_count',
  'aivedio_open_findings',
  'aivedio_reserved_credit_age_seconds',
];

/** All queue-like figures in one statement. */
export const createQueueFigures = (pool: Pool): ((now: Date) => Promise<readonly Figure[]>) => {
  const db = poolDatabase(pool);
  return (now) => run<Figure>(db, 'read-queue-figures', { now, types: MESSAGE_TYPES });
};
