-- Images are appended to segments, which are files of some 256 MB: one synchronisation makes all images of a group durable,
-- and the images of a month are removed with the files that contain them. A segment is written by one process, and only for
-- a day.
CREATE TABLE image_segments (
  id         integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  -- Its file: the month in which its images were received, and something unique.
  name       text COLLATE "C" NOT NULL UNIQUE,
  opened_at  timestamptz(3) NOT NULL DEFAULT now(),
  -- The size of its file in bytes; null while a process may append to it.
  bytes      bigint,
  -- The bytes of its images that were removed since, or were stored elsewhere before, and since when there are any.
  dead_bytes bigint NOT NULL DEFAULT 0,
  dead_since timestamptz(3)
);

-- Where the bytes of an image begin. Null for an image with a file or an object of its own, which its hash names.
ALTER TABLE images ADD COLUMN segment integer REFERENCES image_segments;
ALTER TABLE images ADD COLUMN position integer;
CREATE INDEX images_by_segment ON images (segment) WHERE segment IS NOT NULL;
