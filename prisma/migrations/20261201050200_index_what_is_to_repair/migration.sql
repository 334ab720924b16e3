-- What the reconciler looks for stands in indexes of its own, so that a look reads what is to be done and never what is over.

ALTER TABLE task_attempts
  ADD COLUMN cost_booked_at timestamptz(3),
  ADD COLUMN empty_success_at timestamptz(3);

UPDATE task_attempts a SET cost_booked_at = a.updated_at
WHERE a.cost_amount IS NOT NULL AND EXISTS (SELECT 1 FROM provider_costs c WHERE c.attempt_id = a.id);

CREATE INDEX task_attempts_unbooked ON task_attempts (updated_at) WHERE cost_amount IS NOT NULL AND cost_booked_at IS NULL;
CREATE INDEX generation_tasks_live_of_tenant ON generation_tasks (tenant_id) WHERE finished_at IS NULL;
CREATE INDEX assets_to_derive_again ON assets ((facts ->> 'retryAt')) WHERE facts ->> 'retryAt' IS NOT NULL;
