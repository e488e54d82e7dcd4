-- Images whose stored file was found missing, or without the hash that names it, until it is found right again.
CREATE TABLE damaged_images (
  sha256   bytea PRIMARY KEY REFERENCES images ON DELETE CASCADE,
  found_at timestamptz(3) NOT NULL DEFAULT now()
);

-- The last nightly verification of a sample of the stored images.
CREATE TABLE image_checks (
  only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  started_at timestamptz(3) NOT NULL DEFAULT now(),
  verified   integer NOT NULL DEFAULT 0,
  damaged    integer NOT NULL DEFAULT 0
);
INSERT INTO image_checks DEFAULT VALUES;
