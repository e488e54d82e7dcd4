-- What can happen many times a minute (a failed login, a picture that is looked at) is one row for a while, with a count.

ALTER TABLE activity ADD COLUMN gathered text;
CREATE UNIQUE INDEX activity_gathered ON activity (gathered) WHERE gathered IS NOT NULL;

-- Nobody can make the log of what people did forget the last three months.
UPDATE retention_settings SET activity_days = 90 WHERE activity_days < 90;
ALTER TABLE retention_settings ADD CONSTRAINT activity_is_kept CHECK (activity_days >= 90);
