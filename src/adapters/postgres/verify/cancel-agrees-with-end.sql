-- One winner: a cancel that took place ends the generation, one that came too late does not.
SELECT id AS subject,
  format('%s with the cancel outcome %s%s', status, coalesce(cancel_outcome, 'none'),
    CASE WHEN cancel_requested_at IS NULL THEN ', never asked' ELSE '' END) AS detail
FROM generation_tasks
WHERE (cancel_outcome IS NOT NULL AND cancel_requested_at IS NULL)
  OR CASE
    WHEN status = 'CANCELED' THEN coalesce(cancel_outcome, 'TOO_LATE') = 'TOO_LATE'
    WHEN status = 'EXPIRED' THEN false
    WHEN status IN ('OUTPUT_FETCHING', 'POST_PROCESSING', 'SUCCEEDED', 'FAILED_FINAL')
      THEN coalesce(cancel_outcome, 'TOO_LATE') <> 'TOO_LATE'
    ELSE cancel_outcome IS NOT NULL
  END
ORDER BY id
LIMIT :limit::int
