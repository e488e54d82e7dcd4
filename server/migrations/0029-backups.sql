-- Backups: which installation they are of, and when they were made.

-- Stays the same when the installation is restored or moved.
ALTER TABLE settings ADD COLUMN installation_id uuid NOT NULL DEFAULT gen_random_uuid();

CREATE TABLE backups (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  status      text COLLATE "C" NOT NULL DEFAULT 'RUNNING' CHECK (status IN ('RUNNING', 'COMPLETED', 'STOPPED', 'FAILED')),
  -- SCHEDULE, USER (backups.create) or COMMAND (gantry backup).
  origin      text COLLATE "C" NOT NULL CHECK (origin IN ('SCHEDULE', 'USER', 'COMMAND')),
  started_by  uuid,
  started_at  timestamptz(3) NOT NULL DEFAULT now(),
  -- The last sign of life of the process that makes it.
  alive_at    timestamptz(3) NOT NULL DEFAULT now(),
  finished_at timestamptz(3),
  progress    real NOT NULL DEFAULT 0,
  folder      text NOT NULL,
  -- The folder of the archive within it.
  name        text,
  rows        bigint,
  events      bigint,
  bytes       bigint,
  pictures    bigint,
  -- What the pictures that were not in the folder before take.
  new_picture_bytes bigint,
  lacking_pictures  integer,
  error       text
);
CREATE INDEX backups_by_start ON backups (started_at, id);
-- One at a time.
CREATE UNIQUE INDEX backups_under_way ON backups ((true)) WHERE status = 'RUNNING';
