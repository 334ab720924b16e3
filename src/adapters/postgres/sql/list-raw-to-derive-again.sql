-- Raw outputs of successes that lack a derivative and whose next try was due before `before`: its message may be lost.
SELECT * FROM assets
WHERE facts ->> 'retryAt' IS NOT NULL AND facts ->> 'retryAt' < :before
ORDER BY facts ->> 'retryAt'
LIMIT :limit
