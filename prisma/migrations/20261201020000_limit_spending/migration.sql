-- How much a tenant may spend in a month, and a key in a month or at all. Only what is limited has a row, so that
-- nobody else pays for the check.

CREATE TABLE "spend_limits" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "api_key_id" UUID,
    "period" TEXT NOT NULL,
    "limit_micros" BIGINT NOT NULL,
    "period_start" DATE NOT NULL,
    "spent_micros" BIGINT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "spend_limits_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "spend_limits_tenant_id_idx" ON "spend_limits"("tenant_id");
CREATE UNIQUE INDEX spend_limits_of_tenant ON spend_limits (tenant_id) WHERE api_key_id IS NULL;
CREATE UNIQUE INDEX spend_limits_of_key ON spend_limits (api_key_id) WHERE api_key_id IS NOT NULL;

ALTER TABLE "spend_limits" ADD CONSTRAINT "spend_limits_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "spend_limits" ADD CONSTRAINT "spend_limits_api_key_id_fkey" FOREIGN KEY ("api_key_id") REFERENCES "api_keys"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE spend_limits
  ADD CONSTRAINT spend_limits_period_check CHECK (period IN ('MONTH', 'TOTAL')),
  ADD CONSTRAINT spend_limits_limit_check CHECK (limit_micros >= 0),
  ADD CONSTRAINT spend_limits_spent_check CHECK (spent_micros >= 0),
  ADD CONSTRAINT spend_limits_month_check CHECK (extract(day FROM period_start) = 1),
  ADD CONSTRAINT spend_limits_budget_check CHECK (api_key_id IS NOT NULL OR period = 'MONTH');

-- Raised with every change of a limit: a statement that waited for the account sees that it knows too little.
ALTER TABLE "accounts" ADD COLUMN "limits_revision" INTEGER NOT NULL DEFAULT 0;

-- The reconciler looks for ends whose hold is still open, among the open ones only.
CREATE INDEX holds_open ON holds (opened_at) WHERE status = 'OPEN';
