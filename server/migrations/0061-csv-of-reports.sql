-- How the CSV files of a report and of a schedule are written; null: as usual.
ALTER TABLE reports ADD COLUMN csv jsonb;
ALTER TABLE report_schedules ADD COLUMN csv jsonb;
