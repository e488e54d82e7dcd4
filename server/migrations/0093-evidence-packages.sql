-- Evidence packages of cases: jobs, and what they made. A row outlives its file, and its case: the manifest is kept for ever.
CREATE TABLE case_exports (
  id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  case_id      uuid NOT NULL,
  case_number  text COLLATE "C" NOT NULL,
  case_version integer NOT NULL,
  redacted     boolean NOT NULL,
  status       text COLLATE "C" NOT NULL DEFAULT 'QUEUED' CHECK (status IN ('QUEUED', 'RUNNING', 'DONE', 'FAILED')),
  -- From 0 to 1.
  progress     real NOT NULL DEFAULT 0,
  attempts     integer NOT NULL DEFAULT 0,
  alive_at     timestamptz(3),
  created_by   uuid NOT NULL,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  finished_at  timestamptz(3),
  error        text,
  -- The file in the data folder; null: none yet, or it was removed.
  file_key     text,
  expires_at   timestamptz(3),
  bytes        bigint,
  sha256       bytea,
  -- As it was signed.
  manifest     bytea,
  signature    bytea,
  downloads    integer NOT NULL DEFAULT 0,
  CHECK ((status = 'DONE') = (manifest IS NOT NULL AND signature IS NOT NULL AND sha256 IS NOT NULL AND bytes IS NOT NULL)),
  CHECK ((status = 'FAILED') = (error IS NOT NULL))
);
CREATE INDEX case_exports_of_case ON case_exports (case_id, created_at);
CREATE INDEX case_exports_open ON case_exports (created_at, id) WHERE status IN ('QUEUED', 'RUNNING');
CREATE INDEX case_exports_by_expiry ON case_exports (expires_at) WHERE file_key IS NOT NULL;

-- What was made stays as it is.
CREATE FUNCTION keep_case_export() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status <> 'DONE' THEN
    RETURN coalesce(NEW, OLD);
  END IF;
  IF TG_OP = 'UPDATE' AND NEW.downloads >= OLD.downloads
    AND (to_jsonb(OLD) - ARRAY['downloads', 'file_key']) = (to_jsonb(NEW) - ARRAY['downloads', 'file_key']) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'The manifest of an evidence package is never changed or deleted' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER keep_case_export BEFORE UPDATE OR DELETE ON case_exports FOR EACH ROW EXECUTE FUNCTION keep_case_export();

-- Certificates are sealed, too.
ALTER TABLE seals DROP CONSTRAINT seals_kind_check;
ALTER TABLE seals ADD CONSTRAINT seals_kind_check
  CHECK (kind IN ('KEY', 'EVENT', 'ACTIVITY', 'LOG', 'CASE_LOG', 'CERTIFICATE')) NOT VALID;
INSERT INTO seal_progress (kind) VALUES ('CERTIFICATE');
CREATE INDEX certificates_by_creation ON certificates (created_at, id);
