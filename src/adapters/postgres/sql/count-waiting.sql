-- Generations that the scheduler could look at now.
SELECT count(*)::integer AS waiting FROM generation_tasks WHERE schedule_at <= :now
