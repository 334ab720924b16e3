-- While any transaction of the database keeps an old snapshot, no dead version of a row can be cleaned away. A counter that all
-- generations change then has thousands of them, and whoever looks it up by its key reads them all. `era` grows with the changes, so
-- that the present version is found from the upper end of this index. The collation is for the planner: a condition that names it can
-- use this index and not the primary key's.
ALTER TABLE "slot_scopes" ADD COLUMN "era" BIGINT NOT NULL DEFAULT 0;
CREATE INDEX "slot_scopes_scope_era_idx" ON "slot_scopes" ("scope" COLLATE "C", "era");

-- Unmatched events are looked up by what they are about: nearly all events were unmatched once, for a moment.
CREATE INDEX "provider_events_provider_id_request_key_idx" ON "provider_events" ("provider_id", "request_key");
