-- Counts a submit's fate: a failure is added to the row as it stands, so that two at once are two, and the one that makes
-- them `failuresMax` turns submits off. Whatever it came to, the probe is over. Guard: a success of a closed circuit without
-- failures changes nothing, and waits for nobody.
UPDATE provider_accounts
SET circuit_failures = CASE WHEN :failed THEN circuit_failures + 1 ELSE 0 END,
  circuit_open_until = CASE WHEN :failed AND circuit_failures + 1 >= :failuresMax THEN :openUntil::timestamptz END,
  circuit_probe_until = NULL, updated_at = :now
WHERE id = :accountId AND (:failed OR circuit_failures <> 0 OR circuit_open_until IS NOT NULL)
