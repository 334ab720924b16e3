-- After how long a provider's slowest create is done: before that the silence of its list says nothing.
ALTER TABLE "providers" ADD COLUMN "create_settles_ms" INTEGER NOT NULL DEFAULT 90000;
