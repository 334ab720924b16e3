-- The holds of generations, locked in one order until the transaction ends. What is summed up under the locks is read by a
-- statement of its own: this one would not see what others wrote while it waited.
SELECT id FROM holds WHERE task_id = ANY (:taskIds::uuid[]) ORDER BY task_id FOR NO KEY UPDATE
