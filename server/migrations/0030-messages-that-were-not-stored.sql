-- Messages of each connection that the service did not store, so that its page can say so.
ALTER TABLE connections
  -- Refused with 429, because the connection sent too many.
  ADD COLUMN limited_messages bigint NOT NULL DEFAULT 0,
  ADD COLUMN limited_at       timestamptz(3),
  -- Neither stored nor put on disk, from a device that does not send again.
  ADD COLUMN lost_messages    bigint NOT NULL DEFAULT 0,
  ADD COLUMN lost_at          timestamptz(3);
