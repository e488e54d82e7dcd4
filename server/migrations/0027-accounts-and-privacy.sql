-- The second factor of a user (TOTP). It is in force once it is confirmed.
CREATE TABLE second_factors (
  user_id      uuid PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  -- Encrypted with a key that is derived from the secret of access tokens.
  secret       text NOT NULL,
  -- null: not confirmed yet.
  confirmed_at timestamptz(3),
  -- The time step of the last accepted code, so that a code is accepted once.
  last_step    bigint NOT NULL DEFAULT 0,
  created_at   timestamptz(3) NOT NULL DEFAULT now()
);

-- SHA-256 of recovery codes that have not been used.
CREATE TABLE recovery_codes (
  user_id   uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  code_hash text NOT NULL,
  PRIMARY KEY (user_id, code_hash)
);

-- Tokens of programs that act for a user.
CREATE TABLE api_tokens (
  id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  user_id      uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name         text NOT NULL,
  role         text NOT NULL,
  -- The first characters, by which people recognize the token.
  prefix       text NOT NULL,
  token_hash   text NOT NULL UNIQUE,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  expires_at   timestamptz(3) NOT NULL,
  -- Written at most once a minute.
  last_used_at timestamptz(3),
  revoked_at   timestamptz(3)
);
CREATE INDEX api_tokens_of_user ON api_tokens (user_id, created_at DESC);

-- Accounts at an OpenID Connect provider and the users they belong to.
CREATE TABLE external_identities (
  issuer     text NOT NULL,
  subject    text NOT NULL,
  user_id    uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX external_identities_of_user ON external_identities (user_id);

-- Logins at the provider that are under way. A row is used once.
CREATE TABLE oidc_logins (
  -- SHA-256 of the state, later of the code that the browser exchanges for a token.
  key_hash      text PRIMARY KEY,
  -- The PKCE verifier and the nonce for the provider; null once the provider has answered.
  code_verifier text,
  nonce         text,
  -- The challenge of the browser, which it must answer when it exchanges its code.
  challenge     text NOT NULL,
  -- null until the provider has answered.
  user_id       uuid REFERENCES users (id) ON DELETE CASCADE,
  expires_at    timestamptz(3) NOT NULL
);
CREATE INDEX oidc_logins_expiry ON oidc_logins (expires_at);

-- Whether the file contains no plates, because whoever requested it may not see them.
ALTER TABLE reports ADD COLUMN hides_plates boolean NOT NULL DEFAULT false;
ALTER TABLE report_schedules ADD COLUMN hides_plates boolean NOT NULL DEFAULT false;
