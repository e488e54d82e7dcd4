-- Hotlists: lists of plates in versions. Their hits are kept with the alerts of the watchlist, which is the list without a row here.
CREATE TABLE hotlists (
  id                uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name              text NOT NULL,
  purpose           text,
  -- As the rank of a severity.
  priority          smallint NOT NULL CHECK (priority BETWEEN 1 AND 4),
  owner_id          uuid NOT NULL,
  -- The roles that see a covert list, besides its owner and administrators.
  visible_to        text[] NOT NULL DEFAULT '{}',
  covert            boolean NOT NULL DEFAULT false,
  verification      text COLLATE "C" NOT NULL CHECK (verification IN ('ALWAYS', 'WHEN_UNSURE', 'NEVER')),
  tolerance         text COLLATE "C" NOT NULL CHECK (tolerance IN ('EXACT', 'CONFUSABLE', 'ONE_OFF')),
  max_differences   smallint NOT NULL DEFAULT 1 CHECK (max_differences BETWEEN 1 AND 2),
  min_confidence    smallint CHECK (min_confidence BETWEEN 0 AND 100),
  repeat_minutes    integer NOT NULL DEFAULT 10 CHECK (repeat_minutes BETWEEN 0 AND 1440),
  hit_days          integer CHECK (hit_days > 0),
  stale_after_hours integer CHECK (stale_after_hours > 0),
  -- How files are read by default, and where they come from.
  template          jsonb,
  source            jsonb,
  -- What is known of the source: its ETag, when it was last read, and what went wrong.
  source_state      jsonb,
  source_due_at     timestamptz(3),
  version           integer NOT NULL DEFAULT 0,
  entry_count       integer NOT NULL DEFAULT 0,
  -- When its content was last changed or confirmed.
  refreshed_at      timestamptz(3),
  is_active         boolean NOT NULL DEFAULT true,
  created_by        uuid NOT NULL,
  created_at        timestamptz(3) NOT NULL DEFAULT now(),
  updated_by        uuid,
  updated_at        timestamptz(3) NOT NULL DEFAULT now(),
  deleted_at        timestamptz(3)
);
CREATE UNIQUE INDEX hotlists_by_name ON hotlists (gantry_fold(name)) WHERE deleted_at IS NULL;

-- An entry is identified by what it lists: its id follows from its plate, region and reference, so it is the same in every version
-- that contains it. A row is in force while the version of its list is from_version or later, and before to_version: a new version
-- is prepared in small transactions and put in force by changing the one number.
CREATE TABLE hotlist_entries (
  id             uuid NOT NULL,
  hotlist_id     uuid NOT NULL,
  plate          text NOT NULL,
  plate_key      text NOT NULL,
  confusable_key text NOT NULL,
  region         text,
  reason         text NOT NULL,
  reference      text,
  valid_from     timestamptz(3),
  valid_until    timestamptz(3),
  approved_by    text,
  review_on      date,
  extra          jsonb,
  row_hash       bigint NOT NULL,
  from_version   integer NOT NULL,
  to_version     integer,
  PRIMARY KEY (hotlist_id, id, from_version)
);
CREATE INDEX hotlist_entries_by_key ON hotlist_entries (confusable_key);
CREATE INDEX hotlist_entries_by_plate ON hotlist_entries (hotlist_id, plate_key);
CREATE INDEX hotlist_entries_patterns ON hotlist_entries (hotlist_id) WHERE plate_key LIKE '%*%';
CREATE INDEX hotlist_entries_since ON hotlist_entries (hotlist_id, from_version);
CREATE INDEX hotlist_entries_ended ON hotlist_entries (hotlist_id, to_version) WHERE to_version IS NOT NULL;

-- The plates of lists that tolerate one wrong, missing or additional character: each whole, and without each of its characters.
CREATE TABLE hotlist_near (
  near       text NOT NULL,
  hotlist_id uuid NOT NULL,
  entry_id   uuid NOT NULL
);
CREATE INDEX hotlist_near_by_text ON hotlist_near (near);
CREATE INDEX hotlist_near_of_entry ON hotlist_near (hotlist_id, entry_id);

CREATE TABLE hotlist_imports (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  hotlist_id  uuid NOT NULL REFERENCES hotlists (id),
  mode        text COLLATE "C" CHECK (mode IN ('COMPLETE', 'ADD', 'REMOVE')),
  origin      text COLLATE "C" NOT NULL CHECK (origin IN ('UPLOAD', 'FOLDER', 'URL', 'REVERT')),
  file_name   text,
  sha256      text COLLATE "C",
  bytes       bigint NOT NULL DEFAULT 0,
  template    jsonb,
  state       text COLLATE "C" NOT NULL CHECK (state IN
    ('UPLOADED', 'STAGING', 'STAGED', 'APPLYING', 'APPLIED', 'UNCHANGED', 'REFUSED', 'CANCELLED', 'FAILED')),
  -- The version against which it was compared, and which it may replace.
  base        integer,
  -- When the file was last changed, as its source says.
  file_at     timestamptz(3),
  lines       integer,
  added       integer,
  changed     integer,
  removed     integer,
  same        integer,
  invalid     integer,
  repeated    integer,
  sample      jsonb,
  error       text,
  override    text,
  by          uuid,
  at          timestamptz(3) NOT NULL DEFAULT now(),
  applied_by  uuid,
  applied_at  timestamptz(3),
  version     integer,
  -- For REVERT: the version that is restored.
  reverts_to  integer,
  -- A process works on it until then; null if nobody has to.
  due_at      timestamptz(3),
  attempts    integer NOT NULL DEFAULT 0
);
CREATE INDEX hotlist_imports_of_list ON hotlist_imports (hotlist_id, at, id);
CREATE INDEX hotlist_imports_due ON hotlist_imports (due_at) WHERE due_at IS NOT NULL;

-- The lines of files before they are applied. After a crash of the server it is empty, and the files are read again.
CREATE UNLOGGED TABLE hotlist_staged (
  import_id      uuid NOT NULL,
  line           integer NOT NULL,
  id             uuid NOT NULL,
  plate          text NOT NULL,
  plate_key      text NOT NULL,
  confusable_key text NOT NULL,
  region         text,
  reason         text NOT NULL,
  reference      text,
  valid_from     timestamptz(3),
  valid_until    timestamptz(3),
  approved_by    text,
  review_on      date,
  extra          jsonb,
  row_hash       bigint NOT NULL
);
CREATE INDEX hotlist_staged_by_entry ON hotlist_staged (import_id, id, line DESC);

-- Searches of past events for plates of lists.
CREATE TABLE hotlist_look_backs (
  id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  hotlist_id   uuid NOT NULL REFERENCES hotlists (id),
  -- CHANGE: the last minutes before and after a change of the list.
  kind         text COLLATE "C" NOT NULL CHECK (kind IN ('CHANGE', 'REQUESTED')),
  state        text COLLATE "C" NOT NULL CHECK (state IN ('WAITING', 'RUNNING', 'DONE', 'CANCELLED', 'FAILED')),
  starts_at    timestamptz(3) NOT NULL,
  ends_at      timestamptz(3) NOT NULL,
  changed_at   timestamptz(3) NOT NULL DEFAULT now(),
  entry_ids    uuid[],
  plates       integer NOT NULL DEFAULT 0,
  done         integer NOT NULL DEFAULT 0,
  hits         integer NOT NULL DEFAULT 0,
  error        text,
  requested_by uuid,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  finished_at  timestamptz(3),
  due_at       timestamptz(3),
  passes_left  smallint NOT NULL DEFAULT 0,
  attempts     integer NOT NULL DEFAULT 0
);
CREATE INDEX hotlist_look_backs_of_list ON hotlist_look_backs (hotlist_id, created_at, id);
CREATE INDEX hotlist_look_backs_due ON hotlist_look_backs (due_at) WHERE due_at IS NOT NULL;

-- Hits of hotlists. The watchlist has no hotlist_id, and its alerts no state: nobody verifies them.
ALTER TABLE watchlist_alerts
  ADD COLUMN hotlist_id    uuid,
  -- What the entry said: region, reference, name of the list and further fields.
  ADD COLUMN listed        jsonb,
  ADD COLUMN kind          text COLLATE "C",
  ADD COLUMN differences   smallint,
  ADD COLUMN plate_region  text,
  ADD COLUMN confidence    smallint,
  ADD COLUMN state         text COLLATE "C",
  ADD COLUMN code          text COLLATE "C",
  ADD COLUMN decision_note text,
  ADD COLUMN decided_by    uuid,
  ADD COLUMN decided_at    timestamptz(3),
  ADD COLUMN released_at   timestamptz(3),
  ADD COLUMN outcome       text COLLATE "C",
  ADD COLUMN outcome_by    uuid,
  ADD COLUMN outcome_at    timestamptz(3);
CREATE INDEX hits_new ON watchlist_alerts (priority DESC, created_at, id) WHERE state = 'NEW';
CREATE INDEX hits_by_creation ON watchlist_alerts (created_at, id) WHERE hotlist_id IS NOT NULL;
CREATE INDEX hits_of_list ON watchlist_alerts (hotlist_id, created_at, id) WHERE hotlist_id IS NOT NULL;

-- The contract lists the topics of streams; a list here would have to be exchanged with each new one.
ALTER TABLE changes DROP CONSTRAINT changes_topic_check;

CREATE TABLE hit_decisions (
  hit_id  uuid NOT NULL REFERENCES watchlist_alerts (id) ON DELETE CASCADE,
  at      timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  seq     bigint GENERATED ALWAYS AS IDENTITY,
  action  text COLLATE "C" NOT NULL,
  code    text COLLATE "C",
  outcome text COLLATE "C",
  note    text,
  by      uuid,
  PRIMARY KEY (hit_id, seq)
);
