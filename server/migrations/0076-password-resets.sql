-- Links by which users set a new password. Hashes are SHA-256; a link is valid while the epoch of its user stays.
CREATE TABLE password_resets (
  token_hash text COLLATE "C" PRIMARY KEY,
  user_id    uuid NOT NULL,
  epoch      integer NOT NULL,
  expires_at timestamptz(3) NOT NULL
);
