SELECT task_id, type, from_status AS "from", to_status AS "to", task_version, ignored_reason
FROM task_state_events
WHERE task_id = ANY (:taskIds::uuid[])
