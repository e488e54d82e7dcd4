-- Retention counts days of 24 hours, before a midnight in UTC. What protects cases and the log from being deleted too early counted
-- them in the time zone of the session, where a day has 25 hours when clocks are set back: in the hour after midnight, it refused
-- what was due, and the run failed.
ALTER FUNCTION keep_case() SET timezone = 'UTC';
ALTER FUNCTION keep_case_item() SET timezone = 'UTC';
ALTER FUNCTION keep_case_log() SET timezone = 'UTC';
ALTER FUNCTION keep_log_entry() SET timezone = 'UTC';
ALTER FUNCTION keep_shift() SET timezone = 'UTC';

-- Lists of open cases by their age, and of all cases by type, code, and the person who checked them.
CREATE INDEX cases_open_by_time ON cases (happened_at, id) WHERE closed_at IS NULL;
CREATE INDEX cases_by_violation ON cases (gantry_fold(violation_type), happened_at, id);
CREATE INDEX cases_by_code ON cases (code, happened_at, id) WHERE code IS NOT NULL;
CREATE INDEX cases_by_first ON cases (first_by, happened_at, id) WHERE first_by IS NOT NULL;
