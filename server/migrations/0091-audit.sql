-- Entries of the activity log in the order of their commits. Those of before have no transaction, and come first. The default alone
-- does not rewrite the table.
ALTER TABLE activity ADD COLUMN xid xid8;
ALTER TABLE activity ALTER COLUMN xid SET DEFAULT pg_current_xact_id();
CREATE INDEX activity_by_commit ON activity (coalesce(xid, '0'::xid8), id);

-- How far entries were sent to webhooks and to standard output.
CREATE TABLE activity_forwarding (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  after_xid text COLLATE "C" NOT NULL,
  after_id  bigint NOT NULL,
  -- The highest id that was sent.
  last_id   bigint NOT NULL
);
INSERT INTO activity_forwarding (after_xid, after_id, last_id)
  SELECT '0', coalesce(max(id), 0), coalesce(max(id), 0) FROM activity;

-- Samples of entries that an administrator looks into, and what came of it. They are never changed.
CREATE TABLE audit_samples (
  id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  drawn_at   timestamptz(3) NOT NULL DEFAULT now(),
  drawn_by   uuid NOT NULL,
  from_at    timestamptz(3) NOT NULL,
  until_at   timestamptz(3) NOT NULL,
  seed       text NOT NULL,
  population integer NOT NULL
);
CREATE INDEX audit_samples_by_time ON audit_samples (drawn_at);

CREATE TABLE audit_entries (
  sample_id uuid NOT NULL REFERENCES audit_samples (id),
  position  integer NOT NULL,
  entry_id  bigint NOT NULL,
  PRIMARY KEY (sample_id, position)
);
CREATE INDEX audit_entries_by_entry ON audit_entries (entry_id);

CREATE TABLE audit_judgements (
  id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  entry_id  bigint NOT NULL,
  verdict   text COLLATE "C" NOT NULL CHECK (verdict IN ('JUSTIFIED', 'UNJUSTIFIED', 'UNCLEAR')),
  note      text,
  judged_by uuid NOT NULL,
  judged_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX audit_judgements_by_entry ON audit_judgements (entry_id, id);

CREATE FUNCTION keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'A sample of the audit, or a judgement, is never changed or deleted' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER keep_audit BEFORE UPDATE OR DELETE ON audit_samples FOR EACH ROW EXECUTE FUNCTION keep_audit();
CREATE TRIGGER keep_audit BEFORE UPDATE OR DELETE ON audit_entries FOR EACH ROW EXECUTE FUNCTION keep_audit();
CREATE TRIGGER keep_audit BEFORE UPDATE OR DELETE ON audit_judgements FOR EACH ROW EXECUTE FUNCTION keep_audit();
