-- Through what messages about alarms are sent.
CREATE TABLE channels (
  id            uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name          text NOT NULL,
  kind          text COLLATE "C" NOT NULL CHECK (kind IN ('SMTP', 'SLACK', 'TEAMS', 'TELEGRAM', 'SMS', 'HTTP')),
  -- url, method, headers and body of the request, and its own recipients (to), as in channels.create.
  settings      jsonb NOT NULL,
  -- Encrypted, as the secrets of second factors are.
  secret        text COLLATE "C",
  plates        text COLLATE "C" NOT NULL CHECK (plates IN ('HIDE', 'SHOW')),
  language      text COLLATE "C" NOT NULL CHECK (language IN ('en', 'tr', 'ar')),
  enabled       boolean NOT NULL,
  -- Since when no message was taken, and why the last one was not.
  failing_since timestamptz(3),
  last_error    text,
  created_by    uuid NOT NULL,
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  updated_at    timestamptz(3) NOT NULL DEFAULT now()
);

-- Where a user is reached.
CREATE TABLE contacts (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  user_id     uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  kind        text COLLATE "C" NOT NULL CHECK (kind IN ('EMAIL', 'SMS', 'CHAT')),
  address     text NOT NULL,
  language    text COLLATE "C" NOT NULL CHECK (language IN ('en', 'tr', 'ar')),
  -- Local times from when until when only CRITICAL messages are sent: {"from": "22:00", "until": "06:00"}.
  quiet       jsonb,
  verified_at timestamptz(3),
  -- The code that was sent to the address: its HMAC, when it was sent, and the number of wrong codes since.
  code_hash   text COLLATE "C",
  code_at     timestamptz(3),
  code_tries  smallint NOT NULL DEFAULT 0,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  UNIQUE (user_id, kind, address)
);

-- Who is on duty.
CREATE TABLE rotas (
  id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name       text NOT NULL,
  timezone   text NOT NULL,
  layers     jsonb NOT NULL,
  overrides  jsonb NOT NULL,
  created_by uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

-- Messages, each for one recipient. They outlive their channels.
CREATE TABLE notices (
  id               uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- The group of alarms and its step; null for a test.
  group_id         uuid,
  step             integer,
  kind             text COLLATE "C" NOT NULL
                   CHECK (kind IN ('FIRST', 'CHANGED', 'REPEAT', 'ESCALATED', 'CLEARED', 'SUMMARY', 'TEST')),
  severity         text COLLATE "C" NOT NULL,
  -- When it was to be announced, which tells repeated messages of one step apart.
  announced_for    timestamptz(3) NOT NULL,
  channel_id       uuid NOT NULL,
  channel_name     text NOT NULL,
  user_id          uuid,
  -- An address or number; '' for the channel itself.
  recipient        text NOT NULL,
  language         text COLLATE "C" NOT NULL,
  policy_name      text,
  -- Number of alarms of the group.
  total            integer NOT NULL DEFAULT 0,
  subject          text NOT NULL,
  body             text NOT NULL,
  status           text COLLATE "C" NOT NULL CHECK (status IN ('PENDING', 'SENT', 'FAILED', 'DROPPED')),
  attempts         integer NOT NULL DEFAULT 0,
  by_hand          integer NOT NULL DEFAULT 0,
  -- When the next attempt is due or, during an attempt, until when other processes leave it alone.
  due_at           timestamptz(3) NOT NULL DEFAULT now(),
  pending_since    timestamptz(3) NOT NULL DEFAULT now(),
  last_error       text,
  last_answer      text,
  -- SHA-256 of the token of its link.
  ack_hash         text COLLATE "C",
  acknowledged_at  timestamptz(3),
  acknowledged_from text COLLATE "C",
  created_at       timestamptz(3) NOT NULL DEFAULT now(),
  sent_at          timestamptz(3)
);
-- Each step once, and each repeated message once.
CREATE UNIQUE INDEX notices_once_per_step ON notices (group_id, step, channel_id, recipient)
  WHERE kind IN ('FIRST', 'ESCALATED');
CREATE UNIQUE INDEX notices_once ON notices (group_id, step, kind, announced_for, channel_id, recipient)
  WHERE group_id IS NOT NULL;
CREATE INDEX notices_due ON notices (channel_id, due_at) WHERE status = 'PENDING';
CREATE INDEX notices_by_time ON notices (created_at, id);
CREATE INDEX notices_of_recipient ON notices (channel_id, recipient, created_at);
CREATE INDEX notices_of_group ON notices (group_id, created_at) WHERE group_id IS NOT NULL;
CREATE UNIQUE INDEX notices_by_token ON notices (ack_hash) WHERE ack_hash IS NOT NULL;
