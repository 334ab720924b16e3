SELECT u.id AS subject, format('%s since %s', u.status, u.expires_at) AS detail
FROM upload_sessions u
JOIN assets a ON a.id = u.asset_id
WHERE (u.status = 'OPEN' AND u.expires_at < :settledBefore::timestamptz
    AND u.expires_at < (SELECT max(w.seen) - interval '10 minutes' FROM (
      SELECT max(updated_at) AS seen FROM generation_tasks UNION ALL SELECT max(updated_at) FROM assets
    ) AS w))
  OR (u.status <> 'OPEN' AND a.status = 'UPLOADING')
ORDER BY u.id
LIMIT :limit::int
