-- What keeps ingestion right when something fails: attempts at following events up, events that people deleted, former time
-- zones, and retention runs that were stopped.

-- ── What is to be followed up ───────────────────────────────────────────────────────────────────────

-- Attempts are counted for each event, and the next one comes later and later. The first five seconds belong to the process
-- that stored the event; after that any process may take it on.
ALTER TABLE events_to_follow_up
  ADD COLUMN attempts integer NOT NULL DEFAULT 0,
  ADD COLUMN retry_at timestamptz(3) NOT NULL DEFAULT now() + interval '5 seconds';
DROP INDEX events_to_follow_up_by_age;
CREATE INDEX events_to_follow_up_by_turn ON events_to_follow_up (attempts, retry_at);

-- ── Events that people deleted ──────────────────────────────────────────────────────────────────────

-- Only those with an idempotency key: a device that did not hear the answer sends them again. Statements that insert such
-- events write to this table too, so that locking it keeps them out (events/remove-store.ts).
CREATE TABLE deleted_events (
  event_id     uuid PRIMARY KEY,
  content_hash uuid NOT NULL,
  at           timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX deleted_events_by_time ON deleted_events (at);

-- ── Former time zones ───────────────────────────────────────────────────────────────────────────────

-- The id of an event follows from its time, and a time without an offset is one of the zone that was set when it was sent.
CREATE TABLE former_timezones (
  timezone    text NOT NULL,
  replaced_at timestamptz(3) NOT NULL DEFAULT now()
);

-- ── Retention ───────────────────────────────────────────────────────────────────────────────────────

-- Whether the run removed nothing because it would have removed too much at once.
ALTER TABLE retention_runs ADD COLUMN step_refused boolean NOT NULL DEFAULT false;
