-- Seals of what was recorded: a chain, in which each seal is signed and names the one before. Nobody changes one, and
-- retention keeps them: the leaves of records that were removed still prove the others.
CREATE TABLE seals (
  seq      bigint PRIMARY KEY,
  kind     text COLLATE "C" NOT NULL CHECK (kind IN ('KEY', 'EVENT', 'ACTIVITY', 'LOG')),
  made_at  timestamptz(3) NOT NULL,
  -- When the first and the last of the records were written.
  first_at timestamptz(3) NOT NULL,
  last_at  timestamptz(3) NOT NULL,
  -- 16 bytes for each record: its id, and 32 bytes: the hash of what it says.
  ids      bytea NOT NULL,
  leaves   bytea NOT NULL CHECK (length(leaves) = 2 * length(ids) AND length(leaves) > 0),
  root     bytea NOT NULL,
  previous bytea NOT NULL,
  hash     bytea NOT NULL,
  key_id   text COLLATE "C" NOT NULL,
  signature bytea NOT NULL
);
-- The bytes are hashes, which cannot be compressed.
ALTER TABLE seals ALTER COLUMN ids SET STORAGE EXTERNAL, ALTER COLUMN leaves SET STORAGE EXTERNAL;
CREATE INDEX seals_by_kind ON seals (kind, last_at, seq);
CREATE INDEX seals_by_time ON seals (made_at);

-- The records that are to be sealed are found by the time at which they were written.
CREATE INDEX activity_by_time ON activity (at, id);

-- The public keys with which seals were signed.
CREATE TABLE seal_keys (
  id         text COLLATE "C" PRIMARY KEY,
  public_key bytea NOT NULL,
  -- The key before; its loss begins a new chain of keys, not of seals.
  replaces   text COLLATE "C",
  created_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE FUNCTION keep_seal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'A seal, or the key of seals, is never changed or deleted' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER keep_seal BEFORE UPDATE OR DELETE ON seals FOR EACH ROW EXECUTE FUNCTION keep_seal();
CREATE TRIGGER keep_seal BEFORE UPDATE OR DELETE ON seal_keys FOR EACH ROW EXECUTE FUNCTION keep_seal();

-- How far the records of each kind were sealed, and how far the nightly check has come and what it found.
CREATE TABLE seal_progress (
  kind   text COLLATE "C" PRIMARY KEY,
  sealed_until timestamptz(3) NOT NULL DEFAULT now()
);
INSERT INTO seal_progress (kind) VALUES ('KEY'), ('EVENT'), ('ACTIVITY'), ('LOG');

CREATE TABLE seal_check (
  only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  started_at timestamptz(3),
  checked    integer NOT NULL DEFAULT 0,
  -- The seal from which the next check of older ones begins.
  next_seq   bigint NOT NULL DEFAULT 1,
  -- The first hundred differences.
  faults     jsonb NOT NULL DEFAULT '[]'
);
INSERT INTO seal_check DEFAULT VALUES;
