SELECT e.reference AS subject, format('the provider was asked %s times', count(*)) AS detail
FROM evidence e
WHERE e.kind = 'post' AND e.reference IS NOT NULL
GROUP BY e.reference
HAVING count(*) > 1
ORDER BY e.reference
LIMIT :limit::int
