-- How devices that do not speak the service's own format are connected, what they sent, and what became of it.

-- The sensor cannot be referred to by a foreign key, because on a cluster sensors are a reference table. Who deletes a
-- sensor marks its connections as deleted; a sweep removes them after their messages.
CREATE TABLE connections (
  id              uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  sensor_id       uuid NOT NULL,
  format          text COLLATE "C" NOT NULL,
  time_zone       text,
  options         jsonb NOT NULL DEFAULT '{}',
  -- The user name is no secret. Token and password are random, and only their hashes are stored.
  username        text COLLATE "C" NOT NULL UNIQUE,
  token_hash      bytea NOT NULL UNIQUE,
  password_hash   bytea NOT NULL,
  -- HA1 of RFC 7616: the hash of user name, realm and password.
  digest_md5      bytea NOT NULL,
  digest_sha256   bytea NOT NULL,
  -- The key of signatures, which cannot be checked with a hash of it. Null for formats without signatures.
  signing_key     text,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  updated_at      timestamptz(3) NOT NULL DEFAULT now(),
  deleted_at      timestamptz(3)
);
CREATE INDEX connections_of_sensor ON connections (sensor_id);
CREATE INDEX connections_deleted ON connections (deleted_at) WHERE deleted_at IS NOT NULL;

-- Messages as devices sent them. Ids begin with the time of receipt, so that old ones are at the beginning of the
-- primary key.
CREATE TABLE device_messages (
  id              uuid PRIMARY KEY,
  connection_id   uuid NOT NULL,
  received_at     timestamptz(3) NOT NULL,
  status          text COLLATE "C" NOT NULL,
  reason          text,
  event_ids       uuid[] NOT NULL DEFAULT '{}',
  method          text NOT NULL,
  path            text NOT NULL,
  topic           text,
  content_type    text,
  bytes           integer NOT NULL,
  -- The parts of the body as JSON. It is text, because jsonb cannot hold every text that a device may send.
  parts           text NOT NULL,
  -- What of the body could not be used, as JSON.
  flaws           text NOT NULL DEFAULT '[]',
  -- Until then a process works on it; null when it is done.
  due_at          timestamptz(3),
  -- Identifies who works on it: a result counts only if this has not changed since.
  claim           integer NOT NULL DEFAULT 0,
  failures        integer NOT NULL DEFAULT 0,
  -- The transaction that changed it last, by which streams find what is new.
  changed_by      xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX device_messages_of_connection ON device_messages (connection_id, id);
CREATE INDEX device_messages_due ON device_messages (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX device_messages_changed ON device_messages (connection_id, changed_by, id);

CREATE TABLE device_message_images (
  message_id      uuid NOT NULL,
  sha256          bytea NOT NULL,
  PRIMARY KEY (message_id, sha256)
);
CREATE INDEX device_message_images_by_image ON device_message_images (sha256);

-- The first report with a key decides on the time of the event, so that a repeated one has the same id.
CREATE TABLE device_reports (
  connection_id   uuid NOT NULL,
  key_hash        bytea NOT NULL,
  -- Null: the time of the device is unknown or was not believed, and the time of receipt counts.
  believed_at     timestamptz(3),
  received_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (connection_id, key_hash)
);
CREATE INDEX device_reports_by_time ON device_reports (received_at);

-- Several reports about one vehicle, until they become one event. The row stays, so that later reports create none.
CREATE TABLE device_passages (
  connection_id   uuid NOT NULL,
  sensor_id       uuid NOT NULL,
  passage         text NOT NULL,
  quality         double precision NOT NULL,
  -- The best report so far, as JSON.
  report          text NOT NULL,
  images          text[] NOT NULL,
  message_ids     uuid[] NOT NULL,
  believed_at     timestamptz(3),
  received_at     timestamptz(3) NOT NULL,
  -- When it becomes an event if no further report arrives; later, when to try again. Null when it is done.
  due_at          timestamptz(3),
  -- From then on nothing is added.
  closed_at       timestamptz(3),
  -- The passage of which it turned out to be a part.
  joined_to       text,
  event_id        uuid,
  reason          text,
  PRIMARY KEY (connection_id, sensor_id, passage)
);
CREATE INDEX device_passages_due ON device_passages (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX device_passages_by_time ON device_passages (received_at);

-- Devices of recorders that are not assigned to a sensor.
CREATE TABLE device_discoveries (
  id              uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  connection_id   uuid NOT NULL,
  device          text NOT NULL,
  first_seen      timestamptz(3) NOT NULL,
  last_seen       timestamptz(3) NOT NULL,
  messages        integer NOT NULL DEFAULT 1,
  UNIQUE (connection_id, device)
);

-- The highest counter used with each nonce of Digest authentication. Nonces that were never used are not stored.
CREATE TABLE digest_nonces (
  nonce           text COLLATE "C" PRIMARY KEY,
  used            bigint NOT NULL,
  expires_at      timestamptz(3) NOT NULL
);
CREATE INDEX digest_nonces_by_expiry ON digest_nonces (expires_at);
