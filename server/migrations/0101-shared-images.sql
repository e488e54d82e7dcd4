-- Images of what an unfinished erasure has erased that something else had then: it names them at its end.
ALTER TABLE erasures ADD COLUMN kept_images bytea[] NOT NULL DEFAULT '{}';
