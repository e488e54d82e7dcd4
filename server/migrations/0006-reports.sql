-- Reports: files that are made of what is stored, when somebody or a schedule asks for them.

-- What asked for a report and who may have gone since, so nothing refers to it by a foreign key.
CREATE TABLE reports (
  id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  kind         text COLLATE "C" NOT NULL,
  format       text COLLATE "C" NOT NULL,
  status       text COLLATE "C" NOT NULL DEFAULT 'QUEUED'
               CHECK (status IN ('QUEUED', 'RUNNING', 'DONE', 'FAILED', 'CANCELLED')),
  filters      jsonb NOT NULL,
  -- What it is about: from the first moment, until before the second.
  starts_at    timestamptz(3) NOT NULL,
  ends_at      timestamptz(3) NOT NULL,
  -- The time zone settings when it was asked for.
  settings     jsonb NOT NULL,
  created_by   uuid NOT NULL,
  -- The schedule that asked for it, and the moment it was due.
  schedule_id  uuid,
  due_at       timestamptz(3),
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  started_at   timestamptz(3),
  finished_at  timestamptz(3),
  progress     real NOT NULL DEFAULT 0,
  row_count    bigint NOT NULL DEFAULT 0,
  -- Which attempt is under way; what another one says of itself counts no more.
  attempts     smallint NOT NULL DEFAULT 0,
  -- The last sign of life of the process that makes it.
  alive_at     timestamptz(3),
  -- The name under which its file is kept, once it is done.
  file_key     text,
  size         bigint,
  error        text,
  UNIQUE (schedule_id, due_at)
);
CREATE INDEX reports_by_creation ON reports (created_at, id);
CREATE INDEX reports_unfinished ON reports (created_at, id) WHERE status IN ('QUEUED', 'RUNNING');

CREATE TABLE report_schedules (
  id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  kind         text COLLATE "C" NOT NULL,
  format       text COLLATE "C" NOT NULL,
  filters      jsonb NOT NULL,
  every        text COLLATE "C" NOT NULL CHECK (every IN ('DAILY', 'WEEKLY', 'MONTHLY')),
  hour         smallint NOT NULL CHECK (hour BETWEEN 0 AND 23),
  -- 0 Sunday … 6 Saturday.
  weekday      smallint CHECK (weekday BETWEEN 0 AND 6),
  day_of_month smallint CHECK (day_of_month BETWEEN 1 AND 31),
  enabled      boolean NOT NULL,
  -- The time zone for which next_run_at was computed.
  timezone     text NOT NULL,
  next_run_at  timestamptz(3),
  last_run_at  timestamptz(3),
  created_by   uuid NOT NULL,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  updated_at   timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX report_schedules_due ON report_schedules (next_run_at) WHERE enabled;

-- How all sensors fared on a day, for the daily summary.
CREATE INDEX sensor_status_history_by_time ON sensor_status_history (at);
