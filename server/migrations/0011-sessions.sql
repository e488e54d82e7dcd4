-- A login begins a session, and every token that is issued or refreshed in it names it. A token is good only as long as
-- its session. The id is a parameter of the insert where a token of the time before sessions is taken over: then it is
-- the id of that token.
CREATE TABLE sessions (
  id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  user_id      uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- The epoch of the user in which the session is good. Raising users.session_epoch ends all sessions but those that
  -- are raised with it.
  epoch        integer NOT NULL,
  started_at   timestamptz(3) NOT NULL DEFAULT now(),
  -- Written at most once a minute.
  last_seen_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at   timestamptz(3) NOT NULL,
  ip_address   text,
  user_agent   text,
  ended_at     timestamptz(3)
);
CREATE INDEX sessions_of_user ON sessions (user_id, last_seen_at DESC);
CREATE INDEX sessions_expiry ON sessions (expires_at);
