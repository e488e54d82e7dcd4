-- Whether a session began with a login at the OpenID Connect provider, which decides on second factors itself.
ALTER TABLE sessions ADD COLUMN by_provider boolean NOT NULL DEFAULT false;
