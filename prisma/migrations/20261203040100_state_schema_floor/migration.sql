-- The oldest code that may work on this schema: code whose newest migration is this one or a later one. A migration that takes away
-- or changes what earlier code uses names itself here; one that only adds leaves it. So code tells a schema that is merely newer, as
-- beside a release that is being rolled out, from one that it must not touch.
CREATE TABLE "schema_floor" (
    "only_row" BOOLEAN NOT NULL DEFAULT true,
    "migration" TEXT NOT NULL,

    CONSTRAINT "schema_floor_pkey" PRIMARY KEY ("only_row")
);
ALTER TABLE "schema_floor" ADD CONSTRAINT schema_floor_only_check CHECK (only_row);
INSERT INTO schema_floor (migration) VALUES ('20261203040100_state_schema_floor');
