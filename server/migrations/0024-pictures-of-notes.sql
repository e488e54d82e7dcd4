-- Images that users attach to notes of incidents. They are kept as long as the incident; retention of event images does not
-- apply to them. Their order and their note are in the details of the timeline entry.

CREATE TABLE incident_images (
  incident_id uuid NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  sha256      bytea NOT NULL REFERENCES images (sha256),
  at          timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (incident_id, sha256)
);
CREATE INDEX incident_images_by_image ON incident_images (sha256);
