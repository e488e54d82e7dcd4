-- The times in which silent sensors were not looked for, because the service or its database was down. The status
-- of sensors does not say then that nothing passed, because nobody could receive what they sent.
CREATE TABLE sensor_watch_gaps (
  since timestamptz PRIMARY KEY,
  until timestamptz NOT NULL
);
