SELECT business_key AS subject, count(*) || ' entries' AS detail
FROM credit_ledger
GROUP BY business_key
HAVING count(*) > 1
ORDER BY business_key
LIMIT :limit::int
