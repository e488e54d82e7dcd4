-- The keys by which plates are compared (plateKey in contract/src/plate.ts) ignore more than before. The service brings
-- the stored keys along while it serves.
CREATE TABLE plate_keys (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  version  smallint NOT NULL,
  position text COLLATE "C" NOT NULL DEFAULT '',
  changed  bigint NOT NULL DEFAULT 0,
  since    timestamptz(3) NOT NULL DEFAULT now()
);
COMMENT ON COLUMN plate_keys.version IS 'The version of the rules to which all stored keys conform.';
COMMENT ON COLUMN plate_keys.position IS 'Keys up to this one conform to the present rules, unless a process of an earlier version stored them since.';
COMMENT ON COLUMN plate_keys.changed IS 'Keys that were changed in the pass under way.';

-- Without events there is nothing to bring along.
INSERT INTO plate_keys (version) SELECT CASE WHEN EXISTS (SELECT FROM events) THEN 1 ELSE 2 END;
