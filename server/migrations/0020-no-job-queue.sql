-- The job queue is no longer a library's: what is due stands in webhook_deliveries, reports and report_schedules themselves.

-- A process of the version before holds a connection of this name as long as it runs, and still needs the schema: without
-- it, what it does fails, and it makes the schema anew. Then the schema stays, unused, until somebody drops it.
DO $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gantry jobs'
  ) THEN
    DROP SCHEMA IF EXISTS graphile_worker CASCADE;
  END IF;
END
$$;
