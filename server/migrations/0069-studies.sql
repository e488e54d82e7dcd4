-- Studies of traffic. Once frozen, their data and figures stay as they are, whatever becomes of what they refer to.
CREATE TABLE studies (
  id              uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  kind            text COLLATE "C" NOT NULL,
  title           text NOT NULL,
  notes           text,
  status          text COLLATE "C" NOT NULL DEFAULT 'DRAFT' CHECK (status IN ('DRAFT', 'FROZEN', 'SIGNED', 'REJECTED')),
  -- The place and what is studied, as in studies.create.
  subject         jsonb NOT NULL,
  place_name      text NOT NULL,
  -- What it is about: from the first moment, until before the second.
  starts_at       timestamptz(3) NOT NULL,
  ends_at         timestamptz(3) NOT NULL,
  -- The time zone settings when it was created.
  settings        jsonb NOT NULL,
  author          uuid NOT NULL,
  author_name     text NOT NULL,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  frozen_by       uuid,
  frozen_by_name  text,
  frozen_at       timestamptz(3),
  program_version text,
  -- SHA-256 of the data.
  hash            text COLLATE "C" CHECK (hash ~ '^[0-9a-f]{64}$'),
  -- The table of the data: columns and rows.
  data            jsonb,
  figures         jsonb,
  -- Who signed or rejected it.
  reviewer        uuid,
  reviewer_name   text,
  reviewed_at     timestamptz(3),
  reason          text,
  CHECK ((status = 'DRAFT') = (num_nulls(frozen_by, frozen_by_name, frozen_at, program_version, hash, data, figures) = 7)),
  CHECK ((status IN ('DRAFT', 'FROZEN')) = (reviewer IS NULL)),
  CHECK (status <> 'SIGNED' OR (reviewer <> author AND reviewer <> frozen_by))
);
CREATE INDEX studies_by_creation ON studies (created_at, id);

-- The study of which a file of the kind STUDY is.
ALTER TABLE reports ADD COLUMN study_id uuid;
