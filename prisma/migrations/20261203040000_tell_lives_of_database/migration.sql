-- One row for each life of this database: a restored copy, or a standby that took over, begins another one. Work of an earlier
-- life may have gone on, where nobody here saw it.
CREATE TABLE "database_lives" (
    "life_no" INTEGER NOT NULL,
    "identity" TEXT NOT NULL,
    "began_at" TIMESTAMPTZ(3) NOT NULL,
    "restored" BOOLEAN NOT NULL,
    "declared_by" TEXT,

    CONSTRAINT "database_lives_pkey" PRIMARY KEY ("life_no")
);
