-- A sensor's key is replaced while its device still has the one before, and one can see whether the new one is in use.

ALTER TABLE sensors
  -- null: never since this was recorded.
  ADD COLUMN key_rotated_at timestamptz(3),
  ADD COLUMN key_used_at timestamptz(3),
  -- The key before, which is accepted until a moment, and when it was used last.
  ADD COLUMN previous_key text,
  ADD COLUMN previous_key_until timestamptz(3),
  ADD COLUMN previous_key_used_at timestamptz(3);
UPDATE sensors SET key_used_at = last_communication;
CREATE UNIQUE INDEX sensors_by_previous_key ON sensors (previous_key) WHERE previous_key IS NOT NULL;
