-- Every table of the product. Three are partitioned by day on the time inside their UUIDv7 key, so that
-- the unique keys hold across midnight. The task row leaves 30 % of a page free for HOT updates.

-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "assets" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "project_id" UUID,
    "task_id" UUID,
    "attempt_id" UUID,
    "parent_asset_id" UUID,
    "kind" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "file_name" TEXT,
    "object_key" TEXT NOT NULL,
    "quarantine_key" TEXT,
    "entry_name" TEXT,
    "size_bytes" BIGINT,
    "sha256" TEXT,
    "declared_mime" TEXT,
    "detected_mime" TEXT,
    "duration_ms" INTEGER,
    "width" INTEGER,
    "height" INTEGER,
    "frame_rate_num" INTEGER,
    "frame_rate_den" INTEGER,
    "facts" JSONB,
    "pipeline_version" INTEGER NOT NULL,
    "business_key" TEXT NOT NULL,
    "rejection_code" TEXT,
    "rejection_detail" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "assets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "upload_sessions" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "asset_id" UUID NOT NULL,
    "status" TEXT NOT NULL,
    "quarantine_key" TEXT NOT NULL,
    "file_name" TEXT NOT NULL,
    "declared_mime" TEXT NOT NULL,
    "declared_size_bytes" BIGINT NOT NULL,
    "declared_sha256" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "upload_sessions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "moderation_decisions" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "subject_kind" TEXT NOT NULL,
    "subject_id" TEXT NOT NULL,
    "verdict" TEXT NOT NULL,
    "reason_code" TEXT,
    "rules_version" TEXT NOT NULL,
    "decided_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "moderation_decisions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "accounts" (
    "tenant_id" UUID NOT NULL,
    "available_micros" BIGINT NOT NULL,
    "held_micros" BIGINT NOT NULL,
    "version" BIGINT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "accounts_pkey" PRIMARY KEY ("tenant_id")
) WITH (fillfactor = 70);

-- CreateTable
CREATE TABLE "holds" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "task_id" UUID NOT NULL,
    "amount_micros" BIGINT NOT NULL,
    "status" TEXT NOT NULL,
    "settled_micros" BIGINT,
    "close_reason" TEXT,
    "opened_at" TIMESTAMPTZ(3) NOT NULL,
    "closed_at" TIMESTAMPTZ(3),

    CONSTRAINT "holds_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "credit_ledger" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "task_id" UUID,
    "attempt_id" UUID,
    "kind" TEXT NOT NULL,
    "amount_micros" BIGINT NOT NULL,
    "available_delta" BIGINT NOT NULL,
    "held_delta" BIGINT NOT NULL,
    "unit" TEXT NOT NULL,
    "business_key" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "credit_ledger_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "quotes" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "request_hash" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "price_micros" BIGINT NOT NULL,
    "facts" JSONB NOT NULL,
    "tier" TEXT NOT NULL,
    "exchange_rate" DECIMAL(20,8) NOT NULL,
    "rounding" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "quotes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "provider_costs" (
    "id" UUID NOT NULL,
    "provider_id" TEXT NOT NULL,
    "attempt_id" UUID,
    "job_id" TEXT,
    "source" TEXT NOT NULL,
    "amount" DECIMAL(20,6) NOT NULL,
    "currency" TEXT NOT NULL,
    "rate_micros" BIGINT NOT NULL,
    "business_key" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "provider_costs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "generation_tasks" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "project_id" UUID,
    "api_key_id" UUID,
    "client_idempotency_key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "quote_id" UUID,
    "status" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "progress" INTEGER NOT NULL DEFAULT 0,
    "requested_model" TEXT NOT NULL,
    "selected_provider" TEXT,
    "selected_account" TEXT,
    "current_attempt_no" INTEGER NOT NULL DEFAULT 0,
    "priority" SMALLINT NOT NULL,
    "price_micros" BIGINT NOT NULL,
    "reserved_micros" BIGINT NOT NULL DEFAULT 0,
    "settled_micros" BIGINT,
    "output_asset_id" UUID,
    "raw_generation" INTEGER NOT NULL DEFAULT 1,
    "schedule_at" TIMESTAMPTZ(3),
    "wait_reason" TEXT,
    "waiting_since" TIMESTAMPTZ(3),
    "submit_tries" INTEGER NOT NULL DEFAULT 0,
    "fetch_tries" INTEGER NOT NULL DEFAULT 0,
    "media_tries" INTEGER NOT NULL DEFAULT 0,
    "step_started_at" TIMESTAMPTZ(3),
    "next_retry_at" TIMESTAMPTZ(3),
    "deadline_at" TIMESTAMPTZ(3) NOT NULL,
    "recovery_deadline_at" TIMESTAMPTZ(3),
    "cancel_requested_at" TIMESTAMPTZ(3),
    "cancel_reason" TEXT,
    "cancel_outcome" TEXT,
    "last_error_class" TEXT,
    "last_error_code" TEXT,
    "needs_operator" BOOLEAN NOT NULL DEFAULT false,
    "trace_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "generation_tasks_pkey" PRIMARY KEY ("id")
) WITH (fillfactor = 70);

-- CreateTable
CREATE TABLE "generation_requests" (
    "task_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "prompt" TEXT NOT NULL,
    "body" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "generation_requests_pkey" PRIMARY KEY ("task_id")
);

-- CreateTable
CREATE TABLE "generation_inputs" (
    "task_id" UUID NOT NULL,
    "asset_id" UUID NOT NULL,
    "role" TEXT NOT NULL,
    "position" SMALLINT NOT NULL,

    CONSTRAINT "generation_inputs_pkey" PRIMARY KEY ("task_id","position")
);

-- CreateTable
CREATE TABLE "task_attempts" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "task_id" UUID NOT NULL,
    "attempt_no" INTEGER NOT NULL,
    "provider_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "request_key" TEXT NOT NULL,
    "job_id" TEXT,
    "status" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "sent" JSONB NOT NULL,
    "callback_url" TEXT NOT NULL,
    "provider_status" TEXT,
    "progress" INTEGER NOT NULL DEFAULT 0,
    "provider_updated_at" TIMESTAMPTZ(3),
    "outputs" JSONB,
    "output_url_expires_at" TIMESTAMPTZ(3),
    "error_class" TEXT,
    "error_code" TEXT,
    "answer_digest" TEXT,
    "cost_amount" DECIMAL(20,6),
    "cost_currency" TEXT,
    "lease_owner" UUID,
    "lease_until" TIMESTAMPTZ(3),
    "slot_token" BIGINT,
    "next_poll_at" TIMESTAMPTZ(3),
    "poll_tries" INTEGER NOT NULL DEFAULT 0,
    "poll_errors" INTEGER NOT NULL DEFAULT 0,
    "cancel_status" TEXT,
    "cancel_tries" INTEGER NOT NULL DEFAULT 0,
    "reconcile_tries" INTEGER NOT NULL DEFAULT 0,
    "absent_since" TIMESTAMPTZ(3),
    "watched_until" TIMESTAMPTZ(3),
    "sent_at" TIMESTAMPTZ(3),
    "accepted_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "task_attempts_pkey" PRIMARY KEY ("id")
) WITH (fillfactor = 70);

-- CreateTable
CREATE TABLE "task_state_events" (
    "event_id" UUID NOT NULL,
    "task_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "attempt_id" UUID,
    "source" TEXT NOT NULL,
    "source_event_id" TEXT,
    "type" TEXT NOT NULL,
    "from_status" TEXT,
    "to_status" TEXT NOT NULL,
    "task_version" INTEGER NOT NULL,
    "ignored_reason" TEXT,
    "provider_updated_at" TIMESTAMPTZ(3),
    "observed_at" TIMESTAMPTZ(3) NOT NULL,
    "payload" JSONB,
    "trace_id" TEXT,

    CONSTRAINT "task_state_events_pkey" PRIMARY KEY ("event_id")
) PARTITION BY RANGE ("event_id");

-- CreateTable
CREATE TABLE "outbox_events" (
    "id" UUID NOT NULL,
    "aggregate_type" TEXT NOT NULL,
    "aggregate_id" UUID NOT NULL,
    "aggregate_version" INTEGER NOT NULL,
    "type" TEXT NOT NULL,
    "schema_version" INTEGER NOT NULL,
    "tenant_id" UUID,
    "trace_id" TEXT NOT NULL,
    "causation_id" TEXT,
    "payload" JSONB NOT NULL,
    "status" TEXT NOT NULL,
    "available_at" TIMESTAMPTZ(3) NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "publish_attempts" INTEGER NOT NULL DEFAULT 0,
    "last_error" TEXT,
    "published_at" TIMESTAMPTZ(3),

    CONSTRAINT "outbox_events_pkey" PRIMARY KEY ("id")
) PARTITION BY RANGE ("id");

-- CreateTable
CREATE TABLE "inbox_dedup" (
    "consumer_group" TEXT NOT NULL,
    "event_id" UUID NOT NULL,
    "handled_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "inbox_dedup_pkey" PRIMARY KEY ("consumer_group","event_id")
) PARTITION BY RANGE ("event_id");

-- CreateTable
CREATE TABLE "bus_messages" (
    "id" BIGSERIAL NOT NULL,
    "consumer_group" TEXT NOT NULL,
    "event_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "envelope" JSONB NOT NULL,
    "status" TEXT NOT NULL,
    "available_at" TIMESTAMPTZ(3) NOT NULL,
    "lease_token" UUID,
    "deliveries" INTEGER NOT NULL DEFAULT 0,
    "last_error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "bus_messages_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "slot_scopes" (
    "scope" TEXT NOT NULL,
    "in_use" INTEGER NOT NULL,
    "limit_max" INTEGER NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "slot_scopes_pkey" PRIMARY KEY ("scope")
) WITH (fillfactor = 70);

-- CreateTable
CREATE TABLE "slot_leases" (
    "holder" UUID NOT NULL,
    "scopes" TEXT[],
    "token" BIGINT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "slot_leases_pkey" PRIMARY KEY ("holder")
);

-- CreateTable
CREATE TABLE "findings" (
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "subject_kind" TEXT NOT NULL,
    "subject_id" TEXT NOT NULL,
    "tenant_id" UUID,
    "business_key" TEXT NOT NULL,
    "detail" JSONB NOT NULL,
    "action_taken" TEXT,
    "first_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "resolved_at" TIMESTAMPTZ(3),

    CONSTRAINT "findings_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_endpoints" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "event_types" TEXT[],
    "secret_cipher" BYTEA NOT NULL,
    "status" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "disabled_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_endpoints_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "status" TEXT NOT NULL,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "next_try_at" TIMESTAMPTZ(3),
    "answer_status" INTEGER,
    "answer_digest" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "delivered_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "providers" (
    "id" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "undecidable_policy" TEXT NOT NULL,
    "unknown_window_ms" INTEGER NOT NULL,
    "absence_grace_ms" INTEGER NOT NULL,
    "poll_interval_ms" INTEGER NOT NULL,
    "output_hosts" TEXT[],
    "charges_on_cancel" BOOLEAN NOT NULL,
    "data_policy" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "providers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "provider_accounts" (
    "id" TEXT NOT NULL,
    "provider_id" TEXT NOT NULL,
    "base_url" TEXT NOT NULL,
    "secret_ref" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "concurrent_max" INTEGER NOT NULL,
    "circuit_open_until" TIMESTAMPTZ(3),
    "circuit_failures" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "provider_accounts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "provider_models" (
    "id" TEXT NOT NULL,
    "provider_id" TEXT NOT NULL,
    "provider_model" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "quality" SMALLINT NOT NULL,
    "aspect_ratios" TEXT[],
    "resolutions" TEXT[],
    "duration_ms_min" INTEGER NOT NULL,
    "duration_ms_max" INTEGER NOT NULL,
    "duration_ms_step" INTEGER NOT NULL,
    "supports_image" BOOLEAN NOT NULL,
    "supports_audio" BOOLEAN NOT NULL,
    "prompt_chars_max" INTEGER NOT NULL,
    "price_per_second" JSONB NOT NULL,
    "cost_per_second" DECIMAL(20,6) NOT NULL,
    "cost_currency" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "provider_models_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "provider_events" (
    "id" UUID NOT NULL,
    "provider_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "source_event_id" TEXT NOT NULL,
    "job_id" TEXT NOT NULL,
    "request_key" TEXT,
    "status" TEXT NOT NULL,
    "raw_status" TEXT NOT NULL,
    "observation" JSONB NOT NULL,
    "raw_digest" TEXT NOT NULL,
    "provider_updated_at" TIMESTAMPTZ(3),
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "attempt_id" UUID,
    "matched_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),
    "outcome" TEXT,
    "duplicates" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "provider_events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tenants" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "tier" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "in_flight_max" INTEGER NOT NULL,
    "queued_max" INTEGER NOT NULL,
    "upload_bytes_max" BIGINT NOT NULL,
    "retention_days" INTEGER NOT NULL,
    "charged_failure_bearer" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tenants_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "projects" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "projects_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "users" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "secret_hash" BYTEA NOT NULL,
    "scopes" TEXT[],
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_log" (
    "id" UUID NOT NULL,
    "tenant_id" UUID,
    "actor" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "subject_kind" TEXT NOT NULL,
    "subject_id" TEXT NOT NULL,
    "reason" TEXT,
    "before" JSONB,
    "after" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "audit_log_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "worker_instances" (
    "boot_id" UUID NOT NULL,
    "worker" TEXT NOT NULL,
    "node" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,
    "stopped_at" TIMESTAMPTZ(3),

    CONSTRAINT "worker_instances_pkey" PRIMARY KEY ("boot_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "assets_business_key_key" ON "assets"("business_key");

-- CreateIndex
CREATE INDEX "assets_tenant_id_id_idx" ON "assets"("tenant_id", "id");

-- CreateIndex
CREATE INDEX "assets_task_id_idx" ON "assets"("task_id");

-- CreateIndex
CREATE INDEX "assets_parent_asset_id_idx" ON "assets"("parent_asset_id");

-- CreateIndex
CREATE UNIQUE INDEX "upload_sessions_asset_id_key" ON "upload_sessions"("asset_id");

-- CreateIndex
CREATE INDEX "moderation_decisions_subject_kind_subject_id_created_at_idx" ON "moderation_decisions"("subject_kind", "subject_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "holds_task_id_key" ON "holds"("task_id");

-- CreateIndex
CREATE UNIQUE INDEX "credit_ledger_business_key_key" ON "credit_ledger"("business_key");

-- CreateIndex
CREATE INDEX "credit_ledger_tenant_id_id_idx" ON "credit_ledger"("tenant_id", "id");

-- CreateIndex
CREATE INDEX "credit_ledger_task_id_idx" ON "credit_ledger"("task_id");

-- CreateIndex
CREATE INDEX "quotes_tenant_id_id_idx" ON "quotes"("tenant_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "provider_costs_business_key_key" ON "provider_costs"("business_key");

-- CreateIndex
CREATE INDEX "provider_costs_attempt_id_idx" ON "provider_costs"("attempt_id");

-- CreateIndex
CREATE INDEX "generation_tasks_tenant_id_id_idx" ON "generation_tasks"("tenant_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "generation_tasks_tenant_id_client_idempotency_key_key" ON "generation_tasks"("tenant_id", "client_idempotency_key");

-- CreateIndex
CREATE INDEX "generation_inputs_asset_id_idx" ON "generation_inputs"("asset_id");

-- CreateIndex
CREATE UNIQUE INDEX "task_attempts_task_id_attempt_no_key" ON "task_attempts"("task_id", "attempt_no");

-- CreateIndex
CREATE UNIQUE INDEX "task_attempts_provider_id_request_key_key" ON "task_attempts"("provider_id", "request_key");

-- CreateIndex
CREATE INDEX "task_state_events_task_id_event_id_idx" ON "task_state_events"("task_id", "event_id");

-- CreateIndex
CREATE INDEX "outbox_events_aggregate_id_id_idx" ON "outbox_events"("aggregate_id", "id");

-- CreateIndex
CREATE INDEX "slot_leases_expires_at_idx" ON "slot_leases"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "findings_business_key_key" ON "findings"("business_key");

-- CreateIndex
CREATE INDEX "findings_subject_kind_subject_id_idx" ON "findings"("subject_kind", "subject_id");

-- CreateIndex
CREATE INDEX "webhook_endpoints_tenant_id_idx" ON "webhook_endpoints"("tenant_id");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_deliveries_endpoint_id_event_id_key" ON "webhook_deliveries"("endpoint_id", "event_id");

-- CreateIndex
CREATE INDEX "provider_events_provider_id_job_id_idx" ON "provider_events"("provider_id", "job_id");

-- CreateIndex
CREATE INDEX "provider_events_attempt_id_idx" ON "provider_events"("attempt_id");

-- CreateIndex
CREATE UNIQUE INDEX "provider_events_provider_id_source_event_id_key" ON "provider_events"("provider_id", "source_event_id");

-- CreateIndex
CREATE UNIQUE INDEX "projects_tenant_id_name_key" ON "projects"("tenant_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "users_tenant_id_email_key" ON "users"("tenant_id", "email");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_prefix_key" ON "api_keys"("prefix");

-- CreateIndex
CREATE INDEX "api_keys_tenant_id_created_at_idx" ON "api_keys"("tenant_id", "created_at");

-- CreateIndex
CREATE INDEX "audit_log_subject_kind_subject_id_created_at_idx" ON "audit_log"("subject_kind", "subject_id", "created_at");

-- CreateIndex
CREATE INDEX "worker_instances_worker_node_idx" ON "worker_instances"("worker", "node");

-- AddForeignKey
ALTER TABLE "assets" ADD CONSTRAINT "assets_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "upload_sessions" ADD CONSTRAINT "upload_sessions_asset_id_fkey" FOREIGN KEY ("asset_id") REFERENCES "assets"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "holds" ADD CONSTRAINT "holds_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "holds" ADD CONSTRAINT "holds_task_id_fkey" FOREIGN KEY ("task_id") REFERENCES "generation_tasks"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "quotes" ADD CONSTRAINT "quotes_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "generation_tasks" ADD CONSTRAINT "generation_tasks_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "generation_requests" ADD CONSTRAINT "generation_requests_task_id_fkey" FOREIGN KEY ("task_id") REFERENCES "generation_tasks"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "generation_inputs" ADD CONSTRAINT "generation_inputs_task_id_fkey" FOREIGN KEY ("task_id") REFERENCES "generation_tasks"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "generation_inputs" ADD CONSTRAINT "generation_inputs_asset_id_fkey" FOREIGN KEY ("asset_id") REFERENCES "assets"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task_attempts" ADD CONSTRAINT "task_attempts_task_id_fkey" FOREIGN KEY ("task_id") REFERENCES "generation_tasks"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "webhook_endpoints"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "provider_accounts" ADD CONSTRAINT "provider_accounts_provider_id_fkey" FOREIGN KEY ("provider_id") REFERENCES "providers"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "provider_models" ADD CONSTRAINT "provider_models_provider_id_fkey" FOREIGN KEY ("provider_id") REFERENCES "providers"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "projects" ADD CONSTRAINT "projects_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "users" ADD CONSTRAINT "users_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
