-- Failed logins of the last minutes, by a hash of the account and address, or of the address: so that guessing is slowed
-- down alike whichever process is asked. They may be lost with the server, as they count for a minute only.
CREATE UNLOGGED TABLE failed_logins (
  key    text PRIMARY KEY,
  points integer NOT NULL,
  -- Unix milliseconds.
  expire bigint
);
