ALTER TABLE hotlist_imports
  -- The signature beside the file of a source, as base64; '' for one that is none; null without one.
  ADD COLUMN signature text,
  -- How much of the work on it is done, in per cent.
  ADD COLUMN progress  smallint,
  -- Other lists with another priority that list plates of the file, and how many: [{hotlistId, plates}].
  ADD COLUMN others    jsonb;

-- Hits are removed in the runs of retention, which record them.
ALTER TABLE retention_removals DROP CONSTRAINT retention_removals_class_check,
  ADD CONSTRAINT retention_removals_class_check CHECK (class IN ('events', 'images', 'reports', 'activity', 'traffic', 'hits'));
