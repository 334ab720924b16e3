/**
 * Named points between two durable steps. A crash test arms one and the process dies there, as if its power had
 * been cut; everywhere else they cost one comparison. The runtime refuses to arm any in production.
 */
export const CRASH_POINTS = [
  'upload.after_session_before_answer',
  'upload.after_copy_before_db',
  'upload.after_db_before_cleanup',
  'create.before_commit',
  'create.after_commit_before_answer',
  'relay.after_publish_before_mark',
  'relay.after_mark_before_bell',
  'schedule.after_slot_before_commit',
  'schedule.after_commit_before_ack',
  'submit.after_sending_before_http',
  'submit.after_http_before_db',
  'submit.after_db_before_ack',
  'cancel.before_http',
  'cancel.after_http_before_db',
  'callback.after_verify_before_db',
  'callback.after_db_before_answer',
  'poll.after_claim_before_http',
  'poll.after_http_before_db',
  'reduce.before_commit',
  'reduce.after_commit_before_ack',
  'fetch.after_download_before_put',
  'fetch.after_put_before_db',
  'fetch.after_db_before_ack',
  'media.after_probe_before_derive',
  'media.after_derive_before_put',
  'media.after_put_before_db',
  'finish.before_commit',
  'finish.after_commit_before_ack',
  'notify.before_publish',
  'notify.after_publish_before_ack',
  'bill.before_commit',
  'bill.after_commit_before_ack',
  'invoice.before_commit',
  'invoice.after_commit_before_answer',
  'settle.deferred_before_commit',
  'settle.before_commit',
  'settle.after_commit_before_ack',
  'reconcile.after_list_before_db',
  'reconcile.after_lease_judged_before_db',
  'operator.before_commit',
  'operator.after_commit_before_answer',
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

let handler: ((point: CrashPoint) => void) | null = null;

/** Called once by the runtime when a crash test armed a point; never in production. */
export const armCrashPoints = (onReach: (point: CrashPoint) => void): void => {
  handler = onReach;
};

export const crashpoint = (point: CrashPoint): void => {
  if (handler !== null) handler(point);
};
