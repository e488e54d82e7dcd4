-- Where the reports of a schedule are sent, as in reports.createSchedule; null: nowhere.
ALTER TABLE report_schedules ADD COLUMN send_to jsonb;

-- One report of a schedule for one recipient, or into a folder.
CREATE TABLE report_dispatches (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  report_id   uuid NOT NULL,
  schedule_id uuid NOT NULL,
  kind        text COLLATE "C" NOT NULL CHECK (kind IN ('EMAIL', 'USER', 'FOLDER')),
  -- An address, the id of a user, or the name of a folder.
  recipient   text NOT NULL,
  status      text COLLATE "C" NOT NULL DEFAULT 'PENDING' CHECK (status IN ('PENDING', 'SENT', 'FAILED')),
  attempts    integer NOT NULL DEFAULT 0,
  -- When the next attempt is due or, during an attempt, until when other processes leave it alone.
  due_at      timestamptz(3) NOT NULL DEFAULT now(),
  last_error  text,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  sent_at     timestamptz(3),
  UNIQUE (report_id, kind, recipient)
);
CREATE INDEX report_dispatches_due ON report_dispatches (kind, due_at) WHERE status = 'PENDING';
CREATE INDEX report_dispatches_by_schedule ON report_dispatches (schedule_id);
