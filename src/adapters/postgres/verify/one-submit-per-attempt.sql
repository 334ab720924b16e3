-- What an earlier life of the database sent, and this one has forgotten, was answered before the attempt was sent here.
SELECT e.reference AS subject, format('the provider was asked %s times', count(*)) AS detail
FROM evidence e
WHERE e.kind = 'post' AND e.reference IS NOT NULL
  AND NOT EXISTS (
    SELECT 1 FROM task_attempts a JOIN database_lives l ON l.restored AND l.began_at <= a.sent_at
    WHERE a.request_key = e.reference AND e.at < l.began_at
  )
GROUP BY e.reference
HAVING count(*) > 1
ORDER BY e.reference
LIMIT :limit::int
