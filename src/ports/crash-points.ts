/**
 * Named points between two durable steps. A crash test arms one and the process dies there, as if its power had
 * been cut; everywhere else they cost one comparison. The runtime refuses to arm any in production.
 */
export const CRASH_POINTS = [
  'upload.after_session_before_answer',
  'upload.after_begin_before_record',
  'upload.after_part_before_answer',
  'upload.after_multipart_complete_before_commit',
  'upload.after_abort_before_cleanup',
  'upload.after_bytes_before_answer',
  'upload.after_completion_before_commit',
  'upload.after_completion_before_answer',
  'upload.after_copy_before_db',
  'upload.after_db_before_cleanup',
  'upload.after_cleanup_before_ack',
  'upload.after_expiry_before_delete',
  'store.after_bytes_before_publish',
  'create.after_quote_before_answer',
  'create.after_claim_before_reserve',
  'create.before_commit',
  'create.after_commit_before_answer',
  'relay.after_claim_before_publish',
  'relay.after_publish_before_mark',
  'relay.after_mark_before_bell',
  'consume.after_lease_before_work',
  'consume.after_inbox_before_effect',
  'consume.after_work_before_ack',
  'schedule.after_requeue_before_slot',
  'schedule.after_slot_before_commit',
  'schedule.after_attempt_before_commit',
  'schedule.after_commit_before_ack',
  'slot.after_commit_before_release',
  'slot.after_release_before_ack',
  'slot.after_rebuild_before_finding',
  'submit.after_sending_before_http',
  'submit.after_http_before_db',
  'submit.after_db_before_ack',
  'cancel.before_commit',
  'cancel.after_commit_before_answer',
  'cancel.before_http',
  'cancel.after_http_before_db',
  'cancel.after_db_before_ack',
  'observe.after_event_before_commit',
  'callback.after_verify_before_db',
  'callback.after_db_before_answer',
  'poll.after_claim_before_http',
  'poll.after_http_before_db',
  'poll.after_db_before_next_poll',
  'reduce.before_commit',
  'reduce.after_commit_before_ack',
  'fetch.after_refresh_before_download',
  'fetch.after_download_before_put',
  'fetch.after_bytes_before_end',
  'fetch.after_digest_before_publish',
  'fetch.after_put_before_db',
  'fetch.after_raw_before_commit',
  'fetch.after_db_before_ack',
  'media.after_probe_before_derive',
  'media.after_derive_before_put',
  'media.after_file_before_next',
  'media.after_put_before_db',
  'finish.after_row_before_next',
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
  'reconcile.after_db_before_ack',
  'reconcile.after_lease_judged_before_db',
  'operator.before_commit',
  'operator.after_commit_before_answer',
  'reconcile.after_deadline_before_next',
  'reconcile.after_rescue_before_commit',
  'reconcile.after_orphan_asked_before_commit',
  'operator.after_grant_before_commit',
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

/** `name@hit`: the process dies when it comes by for the `hit`th time. */
export interface ArmedPoint {
  readonly point: CrashPoint;
  readonly hit: number;
}

/** Null when the text names no point, or no hit. */
export const readArmedPoint = (text: string): ArmedPoint | null => {
  const [name = '', hit = ''] = text.split('@');
  const point = CRASH_POINTS.find((each) => each === name);
  return point === undefined || !/^[1-9]\d{0,3}$/.test(hit) ? null : { point, hit: Number(hit) };
};
