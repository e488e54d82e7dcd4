-- What happens, for those who follow it; and what people do about it: incidents, watchlist, webhooks.

-- ── What changed ────────────────────────────────────────────────────────────────────────────────────

-- What subscribers are told of, in the order in which it was committed. Transactions become visible out of order, so it
-- is read up to the oldest one that is still under way (pg_snapshot_xmin): below that nothing is added any more.
CREATE TABLE changes (
  xid       xid8 NOT NULL DEFAULT pg_current_xact_id(),
  seq       bigint GENERATED ALWAYS AS IDENTITY,
  topic     text COLLATE "C" NOT NULL CHECK (topic IN ('events', 'sensors', 'incidents', 'watchlist')),
  at        timestamptz(3) NOT NULL DEFAULT now(),
  -- The events of one commit group, for the topic events; everything else is told whole in body.
  event_ids uuid[],
  body      jsonb,
  PRIMARY KEY (xid, seq)
);
-- Ids do not get shorter by being compressed.
ALTER TABLE changes ALTER COLUMN event_ids SET STORAGE EXTERNAL;

-- Events from which more follows than that they are stored: an incident, an alert, a message to a webhook. They are noted
-- by the statement that stores them and taken off, a moment later, by the transaction that brings that about.
-- It has no key of its own: the key of events keeps an event from being noted twice, and two keys in one statement would
-- let two processes that are sent the same events wait for one another.
CREATE TABLE events_to_follow_up (
  event_id uuid NOT NULL,
  at       timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX events_to_follow_up_by_event ON events_to_follow_up (event_id);
CREATE INDEX events_to_follow_up_by_age ON events_to_follow_up (at);

-- ── Incidents ───────────────────────────────────────────────────────────────────────────────────────

-- Sensors, locations, people and events may go; what was done about an incident stays. So nothing refers to them by a
-- foreign key.
CREATE TABLE incidents (
  id              uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  title           text NOT NULL,
  description     text,
  type            text COLLATE "C" NOT NULL,
  -- The rank, 1 LOW … 4 CRITICAL.
  severity        smallint NOT NULL CHECK (severity BETWEEN 1 AND 4),
  status          text COLLATE "C" NOT NULL DEFAULT 'OPEN'
                  CHECK (status IN ('OPEN', 'ACKNOWLEDGED', 'IN_PROGRESS', 'RESOLVED', 'CLOSED')),
  location        jsonb,
  location_id     uuid,
  sensor_id       uuid,
  lanes_blocked   smallint CHECK (lanes_blocked >= 0),
  -- null: opened by an event.
  reported_by     uuid,
  assigned_to     uuid,
  opened_at       timestamptz(3) NOT NULL DEFAULT now(),
  -- The first time, also when it was reopened since.
  acknowledged_at timestamptz(3),
  resolved_at     timestamptz(3),
  closed_at       timestamptz(3),
  updated_at      timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX incidents_by_opening ON incidents (opened_at, id);
CREATE INDEX incidents_by_status ON incidents (status, opened_at, id);
CREATE INDEX incidents_of_sensor ON incidents (sensor_id, opened_at);
CREATE INDEX incidents_of_assignee ON incidents (assigned_to, opened_at) WHERE assigned_to IS NOT NULL;

CREATE TABLE incident_events (
  incident_id uuid NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  event_id    uuid NOT NULL,
  attached_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (incident_id, event_id)
);
CREATE INDEX incident_events_by_event ON incident_events (event_id);

CREATE TABLE incident_timeline (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  incident_id uuid NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  at          timestamptz(3) NOT NULL DEFAULT now(),
  -- null: the service itself, because of an event.
  user_id     uuid,
  action      text NOT NULL,
  from_status text,
  to_status   text NOT NULL,
  note        text,
  details     jsonb
);
CREATE INDEX incident_timeline_of_incident ON incident_timeline (incident_id, id);

-- ── Watchlist ───────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE watchlist_entries (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- As it was entered; * stands for any run of characters.
  pattern     text NOT NULL,
  reason      text NOT NULL,
  -- The rank, 1 LOW … 4 CRITICAL.
  priority    smallint NOT NULL CHECK (priority BETWEEN 1 AND 4),
  -- Of the time of a read; null: without bound. valid_until is inclusive.
  valid_from  timestamptz(3),
  valid_until timestamptz(3),
  -- Whether characters that cameras take for one another match.
  fuzzy       boolean NOT NULL,
  created_by  uuid NOT NULL,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  updated_at  timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX watchlist_entries_by_creation ON watchlist_entries (created_at, id);

-- An alert outlives the entry that raised it, so it repeats what the entry said.
CREATE TABLE watchlist_alerts (
  id              uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  entry_id        uuid NOT NULL,
  pattern         text NOT NULL,
  reason          text NOT NULL,
  priority        smallint NOT NULL,
  event_id        uuid NOT NULL,
  plate           text NOT NULL,
  sensor_id       uuid,
  sensor_name     text,
  location_name   text,
  -- The time of the event.
  read_at         timestamptz(3) NOT NULL,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  acknowledged_at timestamptz(3),
  acknowledged_by uuid,
  note            text,
  UNIQUE (entry_id, event_id)
);
CREATE INDEX watchlist_alerts_by_creation ON watchlist_alerts (created_at, id);
CREATE INDEX watchlist_alerts_open ON watchlist_alerts (created_at, id) WHERE acknowledged_at IS NULL;

-- ── Webhooks ────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE webhooks (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  url         text NOT NULL,
  description text,
  secret      text NOT NULL,
  kinds       text[] NOT NULL,
  filter      jsonb NOT NULL,
  enabled     boolean NOT NULL DEFAULT true,
  created_by  uuid NOT NULL,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  updated_at  timestamptz(3) NOT NULL DEFAULT now()
);

-- One thing that one hook is told of; its id is the same at every attempt.
CREATE TABLE webhook_deliveries (
  id              uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  webhook_id      uuid NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  kind            text COLLATE "C" NOT NULL,
  -- The bytes that are signed and sent.
  body            text NOT NULL,
  status          text COLLATE "C" NOT NULL DEFAULT 'PENDING' CHECK (status IN ('PENDING', 'DELIVERED', 'DEAD')),
  attempts        integer NOT NULL DEFAULT 0,
  -- When the next attempt is due.
  due_at          timestamptz(3) NOT NULL DEFAULT now(),
  last_attempt_at timestamptz(3),
  -- What came back last: the status, the first 1 KB of the body, or why there was no answer.
  last_status     smallint,
  last_answer     text,
  last_error      text,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  finished_at     timestamptz(3)
);
CREATE INDEX webhook_deliveries_of_hook ON webhook_deliveries (webhook_id, created_at, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at) WHERE status = 'PENDING';
CREATE INDEX webhook_deliveries_dead ON webhook_deliveries (webhook_id, created_at, id) WHERE status = 'DEAD';
