-- Images that users attach to faults of sensors, in the order in which they were given. They are kept as long as the fault; retention
-- of event images does not apply to them.

CREATE TABLE fault_images (
  fault_id uuid NOT NULL REFERENCES faults (id) ON DELETE CASCADE,
  sha256   bytea NOT NULL REFERENCES images (sha256),
  -- From 1.
  number   smallint NOT NULL,
  at       timestamptz(3) NOT NULL DEFAULT now(),
  user_id  uuid NOT NULL,
  PRIMARY KEY (fault_id, sha256)
);
CREATE INDEX fault_images_by_image ON fault_images (sha256);
