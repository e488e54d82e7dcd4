-- How often a process has begun to process a message since it last had a result: a message that blocks or ends the
-- process each time is given up after some attempts.
ALTER TABLE device_messages ADD COLUMN unfinished integer NOT NULL DEFAULT 0;
