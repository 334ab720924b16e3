-- Shows on the generation what its hold was settled with, where that came after its end.
UPDATE generation_tasks SET settled_micros = :settledMicros WHERE id = :taskId AND settled_micros IS NULL
