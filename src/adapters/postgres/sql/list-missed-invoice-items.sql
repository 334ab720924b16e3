-- Items by which a complete invoice was said to miss the charge of an attempt.
SELECT id FROM provider_invoice_items
WHERE attempt_id = ANY (:attemptIds::uuid[]) AND class = 'UNCHARGED_SUCCESS'
