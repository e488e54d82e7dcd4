-- What is stored beside the events, for how long, and what must not go: images, retention, legal holds.

-- ── Images ──────────────────────────────────────────────────────────────────────────────────────────

-- Pictures that came with events, each once. The row is there before the file: whatever is interrupted, the file is found
-- by its row.
CREATE TABLE images (
  sha256     bytea PRIMARY KEY CHECK (octet_length(sha256) = 32),
  media_type text COLLATE "C" NOT NULL,
  -- Pixels.
  width      integer NOT NULL,
  height     integer NOT NULL,
  bytes      integer NOT NULL,
  -- null: the file may not be there.
  stored_at  timestamptz(3),
  -- When it came last. For an hour from then on it is kept, though no event refers to it yet.
  touched_at timestamptz(3) NOT NULL DEFAULT now()
);

-- Which events an image belongs to. Written before the event is stored; what was left behind is looked for later.
-- Events cannot be referred to by a foreign key.
CREATE TABLE event_images (
  event_id   uuid NOT NULL,
  sha256     bytea NOT NULL,
  event_type text COLLATE "C" NOT NULL,
  at         timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (event_id, sha256)
);
CREATE INDEX event_images_by_image ON event_images (sha256);
CREATE INDEX event_images_by_time ON event_images USING brin (at);

-- ── Legal holds ─────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE legal_holds (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  reason      text NOT NULL,
  created_by  uuid NOT NULL,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  released_by uuid,
  released_at timestamptz(3)
);
CREATE INDEX legal_holds_by_creation ON legal_holds (created_at, id);

-- An event under several holds is free when the last one is released.
CREATE TABLE held_events (
  hold_id    uuid NOT NULL REFERENCES legal_holds (id) ON DELETE CASCADE,
  event_id   uuid NOT NULL,
  event_type text COLLATE "C" NOT NULL,
  PRIMARY KEY (hold_id, event_id)
);
CREATE INDEX held_events_by_event ON held_events (event_id);

-- ── Retention ───────────────────────────────────────────────────────────────────────────────────────

-- Days; null: for ever.
CREATE TABLE retention_settings (
  only_row       boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  events_days    integer,
  -- Event types that have a rule of their own: type → days or null.
  events_by_type jsonb NOT NULL DEFAULT '{}',
  images_days    integer,
  reports_days   integer,
  activity_days  integer,
  updated_at     timestamptz(3),
  updated_by     uuid
);
INSERT INTO retention_settings DEFAULT VALUES;

CREATE TABLE retention_runs (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  status      text COLLATE "C" NOT NULL DEFAULT 'RUNNING'
              CHECK (status IN ('RUNNING', 'COMPLETED', 'STOPPED', 'FAILED')),
  started_at  timestamptz(3) NOT NULL DEFAULT now(),
  -- The last sign of life: without one for some minutes, another process may begin a run.
  beat_at     timestamptz(3) NOT NULL DEFAULT now(),
  finished_at timestamptz(3),
  -- null: the daily run.
  started_by  uuid,
  error       text
);
CREATE INDEX retention_runs_by_start ON retention_runs (started_at, id);
CREATE UNIQUE INDEX retention_runs_under_way ON retention_runs ((true)) WHERE status = 'RUNNING';

-- What a run removed, added to in the transactions that remove it.
CREATE TABLE retention_removals (
  run_id     uuid NOT NULL REFERENCES retention_runs (id) ON DELETE CASCADE,
  class      text COLLATE "C" NOT NULL CHECK (class IN ('events', 'images', 'reports', 'activity')),
  -- '' where there is none.
  event_type text COLLATE "C" NOT NULL DEFAULT '',
  -- Its first day, in UTC.
  month      date NOT NULL,
  rows       bigint NOT NULL,
  bytes      bigint NOT NULL DEFAULT 0,
  -- Whether the month of events went as a whole.
  whole      boolean NOT NULL DEFAULT false,
  PRIMARY KEY (run_id, class, event_type, month)
);
