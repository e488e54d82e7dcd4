-- The schema that server/migrations add up to. Generated: npm run generate

CREATE COLLATION gantry_names (provider = icu, locale = 'und');

CREATE OR REPLACE FUNCTION public.event_hour(id uuid)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN (('1970-01-01 00:00:00'::timestamp without time zone + (((((('x'::text || encode(substr(uuid_send(id), 1, 6), 'hex'::text)))::bit(48))::bigint / 3600000))::double precision * '01:00:00'::interval)) AT TIME ZONE 'UTC'::text)
;

CREATE OR REPLACE FUNCTION public.event_time(id uuid)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN (('1970-01-01 00:00:00'::timestamp without time zone + ((((('x'::text || encode(substr(uuid_send(id), 1, 6), 'hex'::text)))::bit(48))::bigint)::double precision * '00:00:00.001'::interval)) AT TIME ZONE 'UTC'::text)
;

CREATE OR REPLACE FUNCTION public.gantry_fold(value text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN replace(translate(lower((translate(NORMALIZE(value, NFC), 'İI'::text, 'ii'::text) COLLATE pg_c_utf8)), 'ıς'::text, 'iσ'::text), 'i̇'::text, 'i'::text)
;

CREATE OR REPLACE FUNCTION public.keep_audit()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'A sample of the audit, or a judgement, is never changed or deleted' USING ERRCODE = 'restrict_violation';
END $function$
;

CREATE OR REPLACE FUNCTION public.keep_case()
 RETURNS trigger
 LANGUAGE plpgsql
 SET "TimeZone" TO 'UTC'
AS $function$
BEGIN
  IF EXISTS (SELECT FROM retention_settings WHERE OLD.closed_at < now() - make_interval(days => cases_days)) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'A case is not deleted before its retention' USING ERRCODE = 'restrict_violation';
END $function$
;

CREATE OR REPLACE FUNCTION public.keep_case_export()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF OLD.status <> 'DONE' THEN
    RETURN coalesce(NEW, OLD);
  END IF;
  IF TG_OP = 'UPDATE' AND NEW.downloads >= OLD.downloads
    AND (to_jsonb(OLD) - ARRAY['downloads', 'file_key']) = (to_jsonb(NEW) - ARRAY['downloads', 'file_key']) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'The manifest of an evidence package is never changed or deleted' USING ERRCODE = 'restrict_violation';
END $function$
;

CREATE OR REPLACE FUNCTION public.keep_case_item()
 RETURNS trigger
 LANGUAGE plpgsql
 SET "TimeZone" TO 'UTC'
AS $function$
BEGIN
  IF EXISTS (
    SELECT FROM cases, retention_settings WHERE cases.id = OLD.case_id AND locked_at IS NOT NULL
      AND (closed_at < now() - make_interval(days => cases_days)) IS NOT TRUE
  ) THEN
    RAISE EXCEPTION 'The items of a verified case are not changed' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN coalesce(NEW, OLD);
END $function$
;

CREATE OR REPLACE FUNCTION public.keep_case_log()
 RETURNS trigger
 LANGUAGE plpgsql
 SET "TimeZone" TO 'UTC'
AS $function$
BEGIN
  IF TG_OP = 'DELETE' AND EXISTS (
    SELECT FROM cases, retention_settings
    WHERE cases.id = OLD.case_id AND closed_at < now() - make_interval(days => cases_days)
  ) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'An entry of the log of a case is never changed, and only deleted with the case'
    USING ERRCODE = 'restrict_violation';
END $function$
;

CREATE OR REPLACE FUNCTION public.keep_certificate()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.withdrawn_at IS NULL
    AND (to_jsonb(OLD) - ARRAY['withdrawn_at', 'withdrawn_by', 'withdraw_reason'])
      = (to_jsonb(NEW) - ARRAY['withdrawn_at', 'withdrawn_by', 'withdraw_reason']) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'A certificate is never changed or deleted, but withdrawn' USING ERRCODE = 'restrict_violation';
END $function$
;

CREATE OR REPLACE FUNCTION public.keep_log_entry()
 RETURNS trigger
 LANGUAGE plpgsql
 SET "TimeZone" TO 'UTC'
AS $function$
BEGIN
  IF TG_OP = 'DELETE' AND EXISTS (
    SELECT FROM retention_settings WHERE OLD.created_at < now() - make_interval(days => log_days)
  ) THEN
    RETURN OLD;
  END IF;
  IF TG_OP = 'UPDATE' AND current_setting('gantry.erasing', true) = 'on'
    AND to_jsonb(OLD) - ARRAY['text', 'source', 'refs'] = to_jsonb(NEW) - ARRAY['text', 'source', 'refs'] THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'An entry of the log is never changed, and not deleted before its retention'
    USING ERRCODE = 'restrict_violation';
END $function$
;

CREATE OR REPLACE FUNCTION public.keep_seal()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'A seal, or the key of seals, is never changed or deleted' USING ERRCODE = 'restrict_violation';
END $function$
;

CREATE OR REPLACE FUNCTION public.keep_shift()
 RETURNS trigger
 LANGUAGE plpgsql
 SET "TimeZone" TO 'UTC'
AS $function$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT FROM retention_settings WHERE OLD.ended_at < now() - make_interval(days => log_days)) THEN
      RETURN OLD;
    END IF;
  ELSIF current_setting('gantry.erasing', true) = 'on' AND to_jsonb(OLD) - ARRAY['remarks', 'summary', 'close_reason']
    = to_jsonb(NEW) - ARRAY['remarks', 'summary', 'close_reason'] THEN
    RETURN NEW;
  ELSIF OLD.ended_at IS NULL
    AND (OLD.id, OLD.desk, OLD.lead_id, OLD.member_ids, OLD.previous_id, OLD.started_at)
      IS NOT DISTINCT FROM (NEW.id, NEW.desk, NEW.lead_id, NEW.member_ids, NEW.previous_id, NEW.started_at)
    AND (OLD.summary IS NULL OR (OLD.handed_over_at, OLD.handed_over_by, OLD.remarks, OLD.summary)
      IS NOT DISTINCT FROM (NEW.handed_over_at, NEW.handed_over_by, NEW.remarks, NEW.summary)) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'What a shift handed over is never changed, and a shift is not deleted before its retention'
    USING ERRCODE = 'restrict_violation';
END $function$
;

CREATE OR REPLACE FUNCTION public.note_traffic_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  changed jsonb;
BEGIN
  -- Restored together with what was noted.
  IF current_setting('gantry.restoring', true) = 'on' THEN
    RETURN NULL;
  END IF;
  FOREACH changed IN ARRAY ARRAY[
    CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END, CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END]
  LOOP
    INSERT INTO traffic_year_changes (concern, since, until)
    SELECT concern, since, until FROM (
      SELECT (changed ->> name)::uuid AS concern, coalesce((changed ->> TG_ARGV[1])::timestamptz, '-infinity') AS since,
        coalesce((changed ->> TG_ARGV[2])::timestamptz, 'infinity') AS until
      FROM unnest(string_to_array(coalesce(nullif(TG_ARGV[0], ''), '-'), ',')) AS name
    ) AS one
    WHERE changed IS NOT NULL AND since < now() - interval '3 hours' AND (concern IS NOT NULL OR TG_ARGV[0] = '');
  END LOOP;
  RETURN NULL;
END $function$
;

CREATE OR REPLACE FUNCTION public.passage_events(of_sensor uuid, of_passage text, since timestamp with time zone, until timestamp with time zone)
 RETURNS TABLE(id uuid, event_type text, location_id uuid, vehicle_type text, vehicle_speed double precision, direction text, lane text, vehicle_class text, movement text)
 LANGUAGE plpgsql
 STABLE ROWS 3
AS $function$
#variable_conflict use_column
DECLARE
  first_id uuid := (lpad(to_hex((extract(epoch FROM since) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;
  end_id   uuid := (lpad(to_hex((extract(epoch FROM until) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;
BEGIN
  RETURN QUERY
    SELECT id, event_type, location_id, vehicle_type, vehicle_speed, direction, lane, vehicle_class, movement FROM events
    WHERE sensor_id = of_sensor AND passage_id = of_passage AND id >= first_id AND id < end_id;
END $function$
;

CREATE TABLE activity (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  user_id uuid NOT NULL,
  action text NOT NULL,
  at timestamp(3) with time zone NOT NULL DEFAULT now(),
  ip_address text,
  user_agent text,
  details jsonb,
  gathered text,
  xid xid8 DEFAULT pg_current_xact_id()
);

CREATE TABLE activity_forwarding (
  only_row boolean NOT NULL DEFAULT true,
  after_xid text COLLATE "C" NOT NULL,
  after_id bigint NOT NULL,
  last_id bigint NOT NULL
);

CREATE TABLE agencies (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  name text NOT NULL,
  kind text COLLATE "C" NOT NULL,
  phone text,
  email text,
  areas text[] NOT NULL DEFAULT '{}'::text[],
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE alarm_evaluation (
  only_row boolean NOT NULL DEFAULT true,
  evaluated_at timestamp(3) with time zone,
  minute_at timestamp(3) with time zone
);

CREATE TABLE alarm_groups (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  policy_id uuid NOT NULL,
  group_key text COLLATE "C" NOT NULL,
  opened_at timestamp(3) with time zone NOT NULL,
  next_at timestamp(3) with time zone NOT NULL,
  closed_at timestamp(3) with time zone,
  step smallint NOT NULL DEFAULT 0,
  first_told_at timestamp(3) with time zone,
  told_at timestamp(3) with time zone,
  told_firing text[] NOT NULL DEFAULT '{}'::text[],
  told_cleared text[] NOT NULL DEFAULT '{}'::text[]
);

CREATE TABLE alarm_rules (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  name text NOT NULL,
  enabled boolean NOT NULL,
  source text COLLATE "C" NOT NULL,
  condition jsonb NOT NULL,
  scope jsonb NOT NULL DEFAULT '{"sensorIds": [], "locationIds": [], "sensorTypes": []}'::jsonb,
  severity smallint NOT NULL,
  for_seconds integer NOT NULL,
  clear jsonb,
  no_data text COLLATE "C" NOT NULL DEFAULT 'KEEP'::text,
  hours jsonb,
  group_by text[] NOT NULL DEFAULT '{RULE}'::text[],
  policy_id uuid,
  runbook text,
  created_by uuid,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE alarms (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  rule_id uuid NOT NULL,
  rule_name text NOT NULL,
  source text COLLATE "C" NOT NULL,
  severity smallint NOT NULL,
  key text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  since timestamp(3) with time zone NOT NULL,
  fired_at timestamp(3) with time zone,
  cleared_at timestamp(3) with time zone,
  cleared_because text COLLATE "C",
  machine jsonb NOT NULL,
  value double precision,
  worst double precision,
  flaps integer NOT NULL DEFAULT 0,
  is_flapping boolean NOT NULL DEFAULT false,
  text text NOT NULL,
  place text,
  sensor_id uuid,
  location_id uuid,
  incident_id uuid,
  alert_id uuid,
  plate text,
  acknowledged_at timestamp(3) with time zone,
  acknowledged_by uuid,
  note text,
  group_id uuid,
  is_settled boolean NOT NULL DEFAULT false,
  silenced_by uuid,
  inhibited_by text COLLATE "C",
  inhibiting_id uuid
);

CREATE TABLE api_tokens (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  user_id uuid NOT NULL,
  name text NOT NULL,
  role text NOT NULL,
  prefix text NOT NULL,
  token_hash text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  expires_at timestamp(3) with time zone NOT NULL,
  last_used_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone
);

CREATE TABLE audit_entries (
  sample_id uuid NOT NULL,
  "position" integer NOT NULL,
  entry_id bigint NOT NULL
);

CREATE TABLE audit_judgements (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  entry_id bigint NOT NULL,
  verdict text COLLATE "C" NOT NULL,
  note text,
  judged_by uuid NOT NULL,
  judged_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE audit_samples (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  drawn_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  drawn_by uuid NOT NULL,
  from_at timestamp(3) with time zone NOT NULL,
  until_at timestamp(3) with time zone NOT NULL,
  seed text NOT NULL,
  population integer NOT NULL
);

CREATE TABLE backups (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  status text COLLATE "C" NOT NULL DEFAULT 'RUNNING'::text,
  origin text COLLATE "C" NOT NULL,
  started_by uuid,
  started_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  alive_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  finished_at timestamp(3) with time zone,
  progress real NOT NULL DEFAULT 0,
  folder text NOT NULL,
  name text,
  rows bigint,
  events bigint,
  bytes bigint,
  pictures bigint,
  new_picture_bytes bigint,
  lacking_pictures integer,
  error text,
  recipients text[]
);

CREATE TABLE calendar_days (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  date date NOT NULL,
  kind text COLLATE "C" NOT NULL,
  name text NOT NULL,
  location_id uuid
);

CREATE TABLE case_exports (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  case_id uuid NOT NULL,
  case_number text COLLATE "C" NOT NULL,
  case_version integer NOT NULL,
  redacted boolean NOT NULL,
  status text COLLATE "C" NOT NULL DEFAULT 'QUEUED'::text,
  progress real NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  alive_at timestamp(3) with time zone,
  created_by uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  finished_at timestamp(3) with time zone,
  error text,
  file_key text,
  expires_at timestamp(3) with time zone,
  bytes bigint,
  sha256 bytea,
  manifest bytea,
  signature bytea,
  downloads integer NOT NULL DEFAULT 0
);

CREATE TABLE case_items (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  case_id uuid NOT NULL,
  role text COLLATE "C" NOT NULL,
  event_id uuid,
  certificate_id uuid,
  sha256 bytea,
  captured_at timestamp(3) with time zone,
  derived_from uuid,
  text text,
  added_by uuid,
  added_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE case_log (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  case_id uuid NOT NULL,
  seq integer NOT NULL,
  at timestamp(3) with time zone NOT NULL,
  user_id uuid,
  action text COLLATE "C" NOT NULL,
  details jsonb NOT NULL DEFAULT '{}'::jsonb,
  prev bytea NOT NULL,
  hash bytea NOT NULL
);

CREATE TABLE case_numbers (
  year smallint NOT NULL,
  last integer NOT NULL
);

CREATE TABLE case_requests (
  event_id uuid NOT NULL,
  user_id uuid,
  at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE case_rules (
  only_row boolean NOT NULL DEFAULT true,
  second_person jsonb NOT NULL DEFAULT '{}'::jsonb,
  open_for text[] NOT NULL DEFAULT '{}'::text[],
  open_on text COLLATE "C" NOT NULL DEFAULT 'CONFIRMED'::text
);

CREATE TABLE cases (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  number text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'NEW'::text,
  version integer NOT NULL DEFAULT 1,
  event_id uuid,
  incident_id uuid,
  hit_id uuid,
  event_type text,
  violation_type text,
  title text NOT NULL,
  sensor_id uuid,
  sensor_name text,
  location_id uuid,
  location_name text,
  plate text,
  plate_key text,
  plate_region text,
  plate_confidence smallint,
  happened_at timestamp(3) with time zone NOT NULL,
  opened_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  opened_by uuid,
  needs_second boolean NOT NULL,
  first_by uuid,
  first_at timestamp(3) with time zone,
  second_by uuid,
  second_at timestamp(3) with time zone,
  decided_by uuid,
  decided_at timestamp(3) with time zone,
  code text COLLATE "C",
  code_text text,
  checks jsonb,
  checked_at timestamp(3) with time zone,
  measured_kmh double precision,
  limit_kmh double precision,
  tolerance_kmh double precision,
  speed_sentence text,
  lines jsonb,
  hold_id uuid,
  locked_at timestamp(3) with time zone,
  closed_at timestamp(3) with time zone,
  closed_by uuid
);

CREATE TABLE certificates (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  sensor_id uuid NOT NULL,
  sensor_name text NOT NULL,
  kind text COLLATE "C" NOT NULL,
  number text NOT NULL,
  issuer text,
  valid_from timestamp(3) with time zone NOT NULL,
  valid_until timestamp(3) with time zone NOT NULL,
  tolerance jsonb,
  sha256 bytea,
  file_name text,
  note text,
  created_by uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  withdrawn_at timestamp(3) with time zone,
  withdrawn_by uuid,
  withdraw_reason text
);

CREATE TABLE changes (
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  topic text COLLATE "C" NOT NULL,
  at timestamp(3) with time zone NOT NULL DEFAULT now(),
  event_ids uuid[],
  body jsonb
);

CREATE TABLE channels (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  name text NOT NULL,
  kind text COLLATE "C" NOT NULL,
  settings jsonb NOT NULL,
  secret text COLLATE "C",
  plates text COLLATE "C" NOT NULL,
  language text COLLATE "C" NOT NULL,
  enabled boolean NOT NULL,
  failing_since timestamp(3) with time zone,
  last_error text,
  created_by uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE connections (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  sensor_id uuid NOT NULL,
  format text COLLATE "C" NOT NULL,
  time_zone text,
  options jsonb NOT NULL DEFAULT '{}'::jsonb,
  username text COLLATE "C" NOT NULL,
  token_hash bytea NOT NULL,
  password_hash bytea NOT NULL,
  digest_md5 bytea NOT NULL,
  digest_sha256 bytea NOT NULL,
  signing_key text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  deleted_at timestamp(3) with time zone,
  limited_messages bigint NOT NULL DEFAULT 0,
  limited_at timestamp(3) with time zone,
  lost_messages bigint NOT NULL DEFAULT 0,
  lost_at timestamp(3) with time zone
);

CREATE TABLE contacts (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  user_id uuid NOT NULL,
  kind text COLLATE "C" NOT NULL,
  address text NOT NULL,
  language text COLLATE "C" NOT NULL,
  quiet jsonb,
  verified_at timestamp(3) with time zone,
  code_hash text COLLATE "C",
  code_at timestamp(3) with time zone,
  code_tries smallint NOT NULL DEFAULT 0,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE damaged_images (
  sha256 bytea NOT NULL,
  found_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE deleted_events (
  event_id uuid NOT NULL,
  content_hash uuid NOT NULL,
  at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE detector_assignments (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  point_id uuid NOT NULL,
  sensor_id uuid NOT NULL,
  channel jsonb NOT NULL,
  lane text,
  movement text COLLATE "C",
  role text COLLATE "C" NOT NULL,
  counted_types text[],
  correction_angle double precision NOT NULL DEFAULT 0,
  speed_unit text COLLATE "C",
  valid_from timestamp(3) with time zone,
  valid_until timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE device_discoveries (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  connection_id uuid NOT NULL,
  device text NOT NULL,
  first_seen timestamp(3) with time zone NOT NULL,
  last_seen timestamp(3) with time zone NOT NULL,
  messages integer NOT NULL DEFAULT 1
);

CREATE TABLE device_message_images (
  message_id uuid NOT NULL,
  sha256 bytea NOT NULL
);

CREATE TABLE device_messages (
  id uuid NOT NULL,
  connection_id uuid NOT NULL,
  received_at timestamp(3) with time zone NOT NULL,
  status text COLLATE "C" NOT NULL,
  reason text,
  event_ids uuid[] NOT NULL DEFAULT '{}'::uuid[],
  method text NOT NULL,
  path text NOT NULL,
  topic text,
  content_type text,
  bytes integer NOT NULL,
  parts text NOT NULL,
  flaws text NOT NULL DEFAULT '[]'::text,
  due_at timestamp(3) with time zone,
  claim integer NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0,
  changed_by xid8 NOT NULL DEFAULT pg_current_xact_id(),
  headers text,
  unfinished integer NOT NULL DEFAULT 0
);

CREATE TABLE device_passages (
  connection_id uuid NOT NULL,
  sensor_id uuid NOT NULL,
  passage text NOT NULL,
  quality double precision NOT NULL,
  report text NOT NULL,
  images text[] NOT NULL,
  message_ids uuid[] NOT NULL,
  believed_at timestamp(3) with time zone,
  received_at timestamp(3) with time zone NOT NULL,
  due_at timestamp(3) with time zone,
  closed_at timestamp(3) with time zone,
  joined_to text,
  event_id uuid,
  reason text
);

CREATE TABLE device_reports (
  connection_id uuid NOT NULL,
  key_hash bytea NOT NULL,
  believed_at timestamp(3) with time zone,
  received_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE digest_nonces (
  nonce text COLLATE "C" NOT NULL,
  used bigint NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE erased_records (
  kind text COLLATE "C" NOT NULL,
  record_id text COLLATE "C" NOT NULL,
  erasure_id uuid NOT NULL
);

CREATE TABLE erasures (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  started_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  finished_at timestamp(3) with time zone,
  requested_by text NOT NULL,
  reason text NOT NULL,
  salt bytea NOT NULL,
  proof bytea NOT NULL,
  first_at timestamp(3) with time zone,
  counts jsonb NOT NULL DEFAULT '{}'::jsonb,
  kept_images bytea[] NOT NULL DEFAULT '{}'::bytea[]
);

CREATE TABLE event_arrivals (
  hour timestamp with time zone NOT NULL,
  n bigint NOT NULL,
  folded boolean NOT NULL DEFAULT false
) PARTITION BY LIST (folded);

CREATE TABLE event_hour_totals (
  hour timestamp with time zone NOT NULL,
  n bigint NOT NULL,
  violations bigint NOT NULL
) WITH (fillfactor=70);

CREATE TABLE event_images (
  event_id uuid NOT NULL,
  sha256 bytea NOT NULL,
  event_type text COLLATE "C" NOT NULL,
  at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE event_period_totals (
  period text COLLATE "C" NOT NULL,
  start date NOT NULL,
  event_type text COLLATE "C" NOT NULL,
  violation_type text NOT NULL,
  vehicle_type text NOT NULL,
  severity smallint NOT NULL,
  processed boolean NOT NULL,
  archived boolean NOT NULL,
  n bigint NOT NULL
) WITH (fillfactor=70);

CREATE TABLE event_reviews (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  event_id uuid NOT NULL,
  decision text COLLATE "C" NOT NULL,
  reason text,
  user_id uuid NOT NULL,
  at timestamp(3) with time zone NOT NULL,
  before jsonb NOT NULL,
  after jsonb NOT NULL,
  undone_at timestamp(3) with time zone
);

CREATE TABLE event_totals (
  hour timestamp with time zone NOT NULL,
  event_type text COLLATE "C" NOT NULL,
  violation_type text NOT NULL,
  vehicle_type text NOT NULL,
  severity smallint NOT NULL,
  processed boolean NOT NULL DEFAULT false,
  archived boolean NOT NULL DEFAULT false,
  n bigint NOT NULL,
  folded boolean NOT NULL DEFAULT false
) PARTITION BY LIST (folded);

CREATE TABLE events (
  id uuid NOT NULL,
  event_type text COLLATE "C" NOT NULL,
  violation_type text,
  vehicle_type text,
  processed boolean NOT NULL DEFAULT false,
  archived boolean NOT NULL DEFAULT false,
  severity smallint,
  sensor_id uuid,
  sensor_name text,
  location_id uuid,
  location_name text,
  plate text,
  plate_key text COLLATE "C",
  vehicle_speed double precision,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  description text,
  location jsonb,
  metadata jsonb,
  images jsonb,
  tags jsonb,
  processed_at timestamp(3) with time zone,
  processed_by uuid,
  archived_at timestamp(3) with time zone,
  archived_by uuid,
  content_hash uuid,
  location_key text COLLATE "C" GENERATED ALWAYS AS (lower(location_name)) STORED,
  direction text COLLATE "C",
  lane text,
  vehicle_class text COLLATE "C",
  vehicle_length real,
  headway real,
  gap real,
  occupancy_ms integer,
  movement text COLLATE "C",
  passage_id text,
  plate_region text COLLATE "C",
  plate_confidence smallint
) PARTITION BY RANGE (id);

CREATE TABLE events_to_follow_up (
  event_id uuid NOT NULL,
  at timestamp(3) with time zone NOT NULL DEFAULT now(),
  attempts integer NOT NULL DEFAULT 0,
  retry_at timestamp(3) with time zone NOT NULL DEFAULT (now() + '00:00:05'::interval)
) WITH (vacuum_truncate=false);

CREATE TABLE external_identities (
  issuer text NOT NULL,
  subject text NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE failed_logins (
  key text NOT NULL,
  points integer NOT NULL,
  expire bigint
);

CREATE TABLE fault_changes (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  fault_id uuid NOT NULL,
  state text COLLATE "C" NOT NULL,
  at timestamp(3) with time zone NOT NULL,
  user_id uuid NOT NULL,
  reason text
);

CREATE TABLE fault_images (
  fault_id uuid NOT NULL,
  sha256 bytea NOT NULL,
  number smallint NOT NULL,
  at timestamp(3) with time zone NOT NULL DEFAULT now(),
  user_id uuid NOT NULL
);

CREATE TABLE faults (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  sensor_id uuid NOT NULL,
  sensor_name text NOT NULL,
  found_at timestamp(3) with time zone NOT NULL,
  reported_by uuid NOT NULL,
  text text NOT NULL,
  code text,
  ticket text,
  state text COLLATE "C" NOT NULL DEFAULT 'FOUND'::text,
  since timestamp(3) with time zone NOT NULL DEFAULT now(),
  reason text,
  version integer NOT NULL DEFAULT 1,
  updated_by uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  idempotency_key text
);

CREATE TABLE former_timezones (
  timezone text NOT NULL,
  replaced_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE former_users (
  id uuid NOT NULL,
  first_name text NOT NULL,
  last_name text NOT NULL,
  deleted_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE held_events (
  hold_id uuid NOT NULL,
  event_id uuid NOT NULL,
  event_type text COLLATE "C" NOT NULL
);

CREATE TABLE hit_decisions (
  hit_id uuid NOT NULL,
  at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp(),
  seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  action text COLLATE "C" NOT NULL,
  code text COLLATE "C",
  outcome text COLLATE "C",
  note text,
  by uuid
);

CREATE TABLE hotlist_entries (
  id uuid NOT NULL,
  hotlist_id uuid NOT NULL,
  plate text NOT NULL,
  plate_key text NOT NULL,
  confusable_key text NOT NULL,
  region text,
  reason text NOT NULL,
  reference text,
  valid_from timestamp(3) with time zone,
  valid_until timestamp(3) with time zone,
  approved_by text,
  review_on date,
  extra jsonb,
  row_hash bigint NOT NULL,
  from_version integer NOT NULL,
  to_version integer
);

CREATE TABLE hotlist_imports (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  hotlist_id uuid NOT NULL,
  mode text COLLATE "C",
  origin text COLLATE "C" NOT NULL,
  file_name text,
  sha256 text COLLATE "C",
  bytes bigint NOT NULL DEFAULT 0,
  template jsonb,
  state text COLLATE "C" NOT NULL,
  base integer,
  file_at timestamp(3) with time zone,
  lines integer,
  added integer,
  changed integer,
  removed integer,
  same integer,
  invalid integer,
  repeated integer,
  sample jsonb,
  error text,
  override text,
  by uuid,
  at timestamp(3) with time zone NOT NULL DEFAULT now(),
  applied_by uuid,
  applied_at timestamp(3) with time zone,
  version integer,
  reverts_to integer,
  due_at timestamp(3) with time zone,
  attempts integer NOT NULL DEFAULT 0,
  signature text,
  progress smallint,
  others jsonb
);

CREATE TABLE hotlist_look_backs (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  hotlist_id uuid NOT NULL,
  kind text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  starts_at timestamp(3) with time zone NOT NULL,
  ends_at timestamp(3) with time zone NOT NULL,
  changed_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  entry_ids uuid[],
  plates integer NOT NULL DEFAULT 0,
  done integer NOT NULL DEFAULT 0,
  hits integer NOT NULL DEFAULT 0,
  error text,
  requested_by uuid,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  finished_at timestamp(3) with time zone,
  due_at timestamp(3) with time zone,
  passes_left smallint NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0
);

CREATE TABLE hotlist_near (
  near text NOT NULL,
  hotlist_id uuid NOT NULL,
  entry_id uuid NOT NULL
);

CREATE TABLE hotlist_staged (
  import_id uuid NOT NULL,
  line integer NOT NULL,
  id uuid NOT NULL,
  plate text NOT NULL,
  plate_key text NOT NULL,
  confusable_key text NOT NULL,
  region text,
  reason text NOT NULL,
  reference text,
  valid_from timestamp(3) with time zone,
  valid_until timestamp(3) with time zone,
  approved_by text,
  review_on date,
  extra jsonb,
  row_hash bigint NOT NULL
);

CREATE TABLE hotlists (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  name text NOT NULL,
  purpose text,
  priority smallint NOT NULL,
  owner_id uuid NOT NULL,
  visible_to text[] NOT NULL DEFAULT '{}'::text[],
  covert boolean NOT NULL DEFAULT false,
  verification text COLLATE "C" NOT NULL,
  tolerance text COLLATE "C" NOT NULL,
  max_differences smallint NOT NULL DEFAULT 1,
  min_confidence smallint,
  repeat_minutes integer NOT NULL DEFAULT 10,
  hit_days integer,
  stale_after_hours integer,
  template jsonb,
  source jsonb,
  source_state jsonb,
  source_due_at timestamp(3) with time zone,
  version integer NOT NULL DEFAULT 0,
  entry_count integer NOT NULL DEFAULT 0,
  refreshed_at timestamp(3) with time zone,
  is_active boolean NOT NULL DEFAULT true,
  created_by uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_by uuid,
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  deleted_at timestamp(3) with time zone
);

CREATE TABLE image_checks (
  only_row boolean NOT NULL DEFAULT true,
  started_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  verified integer NOT NULL DEFAULT 0,
  damaged integer NOT NULL DEFAULT 0
);

CREATE TABLE image_segments (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  name text COLLATE "C" NOT NULL,
  opened_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  bytes bigint,
  dead_bytes bigint NOT NULL DEFAULT 0,
  dead_since timestamp(3) with time zone
);

CREATE TABLE images (
  sha256 bytea NOT NULL,
  media_type text COLLATE "C" NOT NULL,
  width integer NOT NULL,
  height integer NOT NULL,
  bytes integer NOT NULL,
  stored_at timestamp(3) with time zone,
  touched_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  segment integer,
  "position" integer
);

CREATE TABLE incident_agencies (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  incident_id uuid NOT NULL,
  agency_id uuid,
  name text NOT NULL,
  kind text COLLATE "C" NOT NULL,
  unit text,
  notified_at timestamp(3) with time zone,
  dispatched_at timestamp(3) with time zone,
  arrived_at timestamp(3) with time zone,
  left_at timestamp(3) with time zone,
  added_by uuid NOT NULL,
  added_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE incident_events (
  incident_id uuid NOT NULL,
  event_id uuid NOT NULL,
  attached_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE incident_images (
  incident_id uuid NOT NULL,
  sha256 bytea NOT NULL,
  at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE incident_steps (
  incident_id uuid NOT NULL,
  plan_id uuid NOT NULL,
  version integer NOT NULL,
  key text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  reason text,
  user_id uuid NOT NULL,
  at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE incident_timeline (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  incident_id uuid NOT NULL,
  at timestamp(3) with time zone NOT NULL DEFAULT now(),
  user_id uuid,
  action text NOT NULL,
  from_status text,
  to_status text NOT NULL,
  note text,
  details jsonb,
  audience text COLLATE "C"
);

CREATE TABLE incident_work (
  incident_id uuid NOT NULL,
  times_set jsonb NOT NULL DEFAULT '{}'::jsonb,
  occurred_at timestamp(3) with time zone,
  verified_at timestamp(3) with time zone,
  dispatched_at timestamp(3) with time zone,
  arrived_at timestamp(3) with time zone,
  lanes_open_at timestamp(3) with time zone,
  last_left_at timestamp(3) with time zone,
  normal_at timestamp(3) with time zone,
  is_false_alarm boolean NOT NULL DEFAULT false,
  injured text COLLATE "C",
  hazardous boolean,
  heavy_vehicle boolean,
  responder_struck boolean,
  secondary_of uuid,
  merged_into uuid,
  plan_id uuid,
  plan_version integer
);

CREATE TABLE incidents (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  title text NOT NULL,
  description text,
  type text COLLATE "C" NOT NULL,
  severity smallint NOT NULL,
  status text COLLATE "C" NOT NULL DEFAULT 'OPEN'::text,
  location jsonb,
  location_id uuid,
  sensor_id uuid,
  lanes_blocked smallint,
  reported_by uuid,
  assigned_to uuid,
  opened_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  acknowledged_at timestamp(3) with time zone,
  resolved_at timestamp(3) with time zone,
  closed_at timestamp(3) with time zone,
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  backlog boolean NOT NULL DEFAULT false,
  last_event_at timestamp(3) with time zone,
  reported_type text COLLATE "C",
  reported_severity smallint,
  source_key text COLLATE "C"
);

CREATE TABLE lane_states (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  incident_id uuid NOT NULL,
  at timestamp(3) with time zone NOT NULL,
  user_id uuid NOT NULL,
  direction text COLLATE "C" NOT NULL,
  lanes text[] NOT NULL,
  shoulder text COLLATE "C"
);

CREATE TABLE legal_holds (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  reason text NOT NULL,
  created_by uuid,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  released_by uuid,
  released_at timestamp(3) with time zone
);

CREATE TABLE location_limits (
  location_id uuid NOT NULL,
  since timestamp with time zone NOT NULL,
  speed_limit double precision,
  entered_at timestamp with time zone
);

CREATE TABLE locations (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  name text NOT NULL,
  address text NOT NULL DEFAULT ''::text,
  coordinates jsonb,
  description text,
  speed_limit double precision,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  speed_units text COLLATE "C",
  road text,
  kilometre numeric(8,3),
  direction text COLLATE "C",
  lanes smallint,
  has_shoulder boolean
);

CREATE TABLE log_entries (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  at timestamp(3) with time zone NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  user_id uuid NOT NULL,
  desk text NOT NULL,
  shift_id uuid,
  kind text COLLATE "C" NOT NULL,
  text text NOT NULL,
  source jsonb,
  refs jsonb NOT NULL DEFAULT '[]'::jsonb,
  corrects bigint,
  valid_until timestamp(3) with time zone,
  idempotency_key text
);

CREATE TABLE measuring_points (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  location_id uuid NOT NULL,
  name text NOT NULL,
  direction text COLLATE "C" NOT NULL,
  bearing smallint,
  lanes smallint,
  facility text COLLATE "C" NOT NULL,
  road_class text,
  setting text COLLATE "C",
  valid_from timestamp(3) with time zone,
  valid_until timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE notices (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  group_id uuid,
  step integer,
  kind text COLLATE "C" NOT NULL,
  severity text COLLATE "C" NOT NULL,
  announced_for timestamp(3) with time zone NOT NULL,
  channel_id uuid NOT NULL,
  channel_name text NOT NULL,
  user_id uuid,
  recipient text NOT NULL,
  language text COLLATE "C" NOT NULL,
  policy_name text,
  total integer NOT NULL DEFAULT 0,
  subject text NOT NULL,
  body text NOT NULL,
  status text COLLATE "C" NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  by_hand integer NOT NULL DEFAULT 0,
  due_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  pending_since timestamp(3) with time zone NOT NULL DEFAULT now(),
  last_error text,
  last_answer text,
  ack_hash text COLLATE "C",
  acknowledged_at timestamp(3) with time zone,
  acknowledged_from text COLLATE "C",
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  sent_at timestamp(3) with time zone
);

CREATE TABLE oidc_logins (
  key_hash text NOT NULL,
  code_verifier text,
  nonce text,
  challenge text NOT NULL,
  user_id uuid,
  expires_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE password_resets (
  token_hash text COLLATE "C" NOT NULL,
  user_id uuid NOT NULL,
  epoch integer NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE plan_versions (
  plan_id uuid NOT NULL,
  version integer NOT NULL,
  name text NOT NULL,
  steps jsonb NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE plans (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  name text NOT NULL,
  incident_types text[] NOT NULL DEFAULT '{}'::text[],
  min_severity smallint NOT NULL,
  roads text[] NOT NULL DEFAULT '{}'::text[],
  location_ids uuid[] NOT NULL DEFAULT '{}'::uuid[],
  is_enabled boolean NOT NULL DEFAULT true,
  version integer NOT NULL DEFAULT 1,
  steps jsonb NOT NULL,
  created_by uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE plate_keys (
  only_row boolean NOT NULL DEFAULT true,
  version smallint NOT NULL,
  "position" text COLLATE "C" NOT NULL DEFAULT ''::text,
  changed bigint NOT NULL DEFAULT 0,
  since timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE policies (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  name text NOT NULL,
  steps jsonb NOT NULL,
  group_wait_s integer NOT NULL,
  group_interval_s integer NOT NULL,
  repeat_minutes integer NOT NULL,
  notify_clear boolean NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE recovery_codes (
  user_id uuid NOT NULL,
  code_hash text NOT NULL
);

CREATE TABLE removed_case_log (
  id bigint NOT NULL,
  removed_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE report_dispatches (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  report_id uuid NOT NULL,
  schedule_id uuid,
  kind text COLLATE "C" NOT NULL,
  recipient text NOT NULL,
  status text COLLATE "C" NOT NULL DEFAULT 'PENDING'::text,
  attempts integer NOT NULL DEFAULT 0,
  due_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  last_error text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  sent_at timestamp(3) with time zone
);

CREATE TABLE report_schedules (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  kind text COLLATE "C" NOT NULL,
  format text COLLATE "C" NOT NULL,
  filters jsonb NOT NULL,
  every text COLLATE "C" NOT NULL,
  hour smallint NOT NULL,
  weekday smallint,
  day_of_month smallint,
  enabled boolean NOT NULL,
  timezone text NOT NULL,
  next_run_at timestamp(3) with time zone,
  last_run_at timestamp(3) with time zone,
  created_by uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  hides_plates boolean NOT NULL DEFAULT false,
  csv jsonb,
  send_to jsonb
);

CREATE TABLE reports (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  kind text COLLATE "C" NOT NULL,
  format text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL DEFAULT 'QUEUED'::text,
  filters jsonb NOT NULL,
  starts_at timestamp(3) with time zone NOT NULL,
  ends_at timestamp(3) with time zone NOT NULL,
  settings jsonb NOT NULL,
  created_by uuid NOT NULL,
  schedule_id uuid,
  due_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  started_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  progress real NOT NULL DEFAULT 0,
  row_count bigint NOT NULL DEFAULT 0,
  attempts smallint NOT NULL DEFAULT 0,
  alive_at timestamp(3) with time zone,
  file_key text,
  size bigint,
  error text,
  hides_plates boolean NOT NULL DEFAULT false,
  csv jsonb,
  study_id uuid
);

CREATE TABLE retention_removals (
  run_id uuid NOT NULL,
  class text COLLATE "C" NOT NULL,
  event_type text COLLATE "C" NOT NULL DEFAULT ''::text,
  month date NOT NULL,
  rows bigint NOT NULL,
  bytes bigint NOT NULL DEFAULT 0,
  whole boolean NOT NULL DEFAULT false,
  until timestamp with time zone
);

CREATE TABLE retention_runs (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  status text COLLATE "C" NOT NULL DEFAULT 'RUNNING'::text,
  started_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  beat_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  finished_at timestamp(3) with time zone,
  started_by uuid,
  error text,
  step_refused boolean NOT NULL DEFAULT false
);

CREATE TABLE retention_settings (
  only_row boolean NOT NULL DEFAULT true,
  events_days integer,
  events_by_type jsonb NOT NULL DEFAULT '{}'::jsonb,
  images_days integer,
  reports_days integer,
  activity_days integer,
  updated_at timestamp(3) with time zone,
  updated_by uuid,
  traffic_days integer,
  log_days integer,
  cases_days integer,
  events_without_hit jsonb
);

CREATE TABLE revoked_tokens (
  token_id uuid NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE rotas (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  name text NOT NULL,
  timezone text NOT NULL,
  layers jsonb NOT NULL,
  overrides jsonb NOT NULL,
  created_by uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE saved_views (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  page text NOT NULL,
  name text NOT NULL,
  search text NOT NULL,
  owner_id uuid,
  created_by uuid NOT NULL,
  is_default boolean NOT NULL DEFAULT false,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE seal_check (
  only_row boolean NOT NULL DEFAULT true,
  started_at timestamp(3) with time zone,
  checked integer NOT NULL DEFAULT 0,
  next_seq bigint NOT NULL DEFAULT 1,
  faults jsonb NOT NULL DEFAULT '[]'::jsonb
);

CREATE TABLE seal_keys (
  id text COLLATE "C" NOT NULL,
  public_key bytea NOT NULL,
  replaces text COLLATE "C",
  created_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE seal_progress (
  kind text COLLATE "C" NOT NULL,
  sealed_until timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE seals (
  seq bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  made_at timestamp(3) with time zone NOT NULL,
  first_at timestamp(3) with time zone NOT NULL,
  last_at timestamp(3) with time zone NOT NULL,
  ids bytea NOT NULL,
  leaves bytea NOT NULL,
  root bytea NOT NULL,
  previous bytea NOT NULL,
  hash bytea NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  signature bytea NOT NULL
);

CREATE TABLE second_factors (
  user_id uuid NOT NULL,
  secret text NOT NULL,
  confirmed_at timestamp(3) with time zone,
  last_step bigint NOT NULL DEFAULT 0,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE sensor_clocks (
  sensor_id uuid NOT NULL,
  arrivals bigint[] NOT NULL,
  lags bigint[] NOT NULL,
  state text,
  hint text,
  offset_ms bigint,
  unusable_times bigint NOT NULL DEFAULT 0,
  unusable_at timestamp(3) with time zone
);

CREATE TABLE sensor_places (
  sensor_id uuid NOT NULL,
  since timestamp with time zone NOT NULL,
  location_id uuid,
  sensor_type text,
  entered_at timestamp with time zone
);

CREATE TABLE sensor_status_history (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  sensor_id uuid NOT NULL,
  from_status text,
  to_status text NOT NULL,
  at timestamp(3) with time zone NOT NULL DEFAULT now(),
  reason text NOT NULL,
  changed_by uuid
);

CREATE TABLE sensor_watch (
  only_row boolean NOT NULL DEFAULT true,
  watched_since timestamp with time zone NOT NULL,
  looked_at timestamp with time zone NOT NULL
);

CREATE TABLE sensor_watch_gaps (
  since timestamp with time zone NOT NULL,
  until timestamp with time zone NOT NULL
);

CREATE TABLE sensors (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  name text NOT NULL,
  device_id text NOT NULL,
  type text NOT NULL,
  status text NOT NULL DEFAULT 'OFFLINE'::text,
  status_since timestamp(3) with time zone NOT NULL DEFAULT now(),
  api_key text NOT NULL,
  ip_address text,
  mac_address text,
  firmware text,
  coordinates jsonb,
  events_per_min integer NOT NULL DEFAULT 20,
  description text,
  location_id uuid,
  last_heartbeat timestamp(3) with time zone,
  last_communication timestamp(3) with time zone,
  last_ping timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  key_rotated_at timestamp(3) with time zone,
  key_used_at timestamp(3) with time zone,
  previous_key text,
  previous_key_until timestamp(3) with time zone,
  previous_key_used_at timestamp(3) with time zone,
  last_event_at timestamp(3) with time zone,
  requires_heartbeats boolean NOT NULL DEFAULT false,
  lane text,
  direction text COLLATE "C",
  model text,
  serial_number text,
  tags text[] NOT NULL DEFAULT '{}'::text[],
  make text,
  warranty_until date,
  certificate_place text,
  last_event_type text
);

CREATE TABLE sessions (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  user_id uuid NOT NULL,
  epoch integer NOT NULL,
  started_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  last_seen_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  expires_at timestamp(3) with time zone NOT NULL,
  ip_address text,
  user_agent text,
  ended_at timestamp(3) with time zone,
  by_provider boolean NOT NULL DEFAULT false
);

CREATE TABLE settings (
  only_row boolean NOT NULL DEFAULT true,
  installed_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  timezone text NOT NULL DEFAULT 'UTC'::text,
  use_24_hour_format boolean NOT NULL DEFAULT true,
  date_format text NOT NULL DEFAULT 'YYYY-MM-DD'::text,
  first_day_of_week smallint NOT NULL DEFAULT 1,
  installation_id uuid NOT NULL DEFAULT gen_random_uuid()
);

CREATE TABLE shifts (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  desk text NOT NULL,
  lead_id uuid NOT NULL,
  member_ids uuid[] NOT NULL DEFAULT '{}'::uuid[],
  previous_id uuid,
  started_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  handed_over_at timestamp(3) with time zone,
  handed_over_by uuid,
  remarks text,
  summary jsonb,
  ended_at timestamp(3) with time zone,
  accepted_by uuid,
  closed_by uuid,
  close_reason text
);

CREATE TABLE silences (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  matchers jsonb NOT NULL,
  starts_at timestamp(3) with time zone NOT NULL,
  ends_at timestamp(3) with time zone NOT NULL,
  reason text NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE situation_reports (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  incident_id uuid NOT NULL,
  number integer NOT NULL,
  kind text COLLATE "C" NOT NULL,
  audience text COLLATE "C" NOT NULL,
  recipients text[] NOT NULL DEFAULT '{}'::text[],
  subject text,
  message text,
  report_id uuid NOT NULL,
  sha256 text COLLATE "C",
  created_by uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE studies (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  kind text COLLATE "C" NOT NULL,
  title text NOT NULL,
  notes text,
  status text COLLATE "C" NOT NULL DEFAULT 'DRAFT'::text,
  subject jsonb NOT NULL,
  place_name text NOT NULL,
  starts_at timestamp(3) with time zone NOT NULL,
  ends_at timestamp(3) with time zone NOT NULL,
  settings jsonb NOT NULL,
  author uuid NOT NULL,
  author_name text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  frozen_by uuid,
  frozen_by_name text,
  frozen_at timestamp(3) with time zone,
  program_version text,
  hash text COLLATE "C",
  data jsonb,
  figures jsonb,
  reviewer uuid,
  reviewer_name text,
  reviewed_at timestamp(3) with time zone,
  reason text
);

CREATE TABLE traffic_bins (
  minutes smallint NOT NULL,
  sensor_id uuid NOT NULL,
  location_id uuid,
  source smallint NOT NULL,
  slot timestamp with time zone NOT NULL,
  events bigint NOT NULL,
  vehicles bigint NOT NULL DEFAULT 0,
  measured bigint NOT NULL DEFAULT 0,
  speed_sum bigint NOT NULL DEFAULT 0,
  alive smallint NOT NULL DEFAULT 0,
  first_at timestamp with time zone,
  last_at timestamp with time zone,
  cells integer[] NOT NULL DEFAULT '{}'::integer[],
  measures smallint[] NOT NULL DEFAULT '{}'::smallint[],
  sums bigint[] NOT NULL DEFAULT '{}'::bigint[],
  brief_cells integer[],
  brief_measures smallint[],
  brief_sums bigint[],
  counted_share double precision
) WITH (fillfactor=70);

CREATE TABLE traffic_cells (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  vehicle_type text COLLATE "C" NOT NULL,
  direction text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL,
  is_motor boolean NOT NULL,
  vehicle_class text COLLATE "C" NOT NULL DEFAULT ''::text,
  movement text COLLATE "C" NOT NULL DEFAULT ''::text,
  event_type text COLLATE "C" NOT NULL DEFAULT ''::text
);

CREATE TABLE traffic_flags (
  sensor_id uuid NOT NULL,
  found_at timestamp with time zone NOT NULL,
  rule text COLLATE "C" NOT NULL,
  lane text NOT NULL DEFAULT ''::text,
  since timestamp with time zone NOT NULL,
  until timestamp with time zone NOT NULL,
  value double precision NOT NULL,
  threshold double precision NOT NULL
);

CREATE TABLE traffic_kept (
  only_row boolean NOT NULL DEFAULT true,
  since timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  longer_until timestamp with time zone NOT NULL,
  unconverted_until timestamp with time zone
);

CREATE TABLE traffic_observed (
  sensor_id uuid NOT NULL,
  since timestamp with time zone NOT NULL,
  until timestamp with time zone NOT NULL
);

CREATE TABLE traffic_period_revisions (
  sensor_id uuid NOT NULL,
  direction text COLLATE "C" NOT NULL,
  lane text NOT NULL,
  movement text COLLATE "C" NOT NULL,
  start timestamp with time zone NOT NULL,
  revision integer NOT NULL,
  content jsonb NOT NULL,
  stored_at timestamp(3) with time zone NOT NULL,
  replaced_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE traffic_periods (
  sensor_id uuid NOT NULL,
  direction text COLLATE "C" NOT NULL,
  lane text NOT NULL,
  movement text COLLATE "C" NOT NULL,
  start timestamp with time zone NOT NULL,
  seconds integer NOT NULL,
  location_id uuid,
  revision integer NOT NULL DEFAULT 0,
  content jsonb NOT NULL,
  stored_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE traffic_places (
  location_id uuid NOT NULL,
  sensor_id uuid NOT NULL,
  first_slot timestamp with time zone NOT NULL,
  last_slot timestamp with time zone NOT NULL,
  detections boolean NOT NULL DEFAULT false,
  plates boolean NOT NULL DEFAULT false,
  earlier boolean NOT NULL DEFAULT false,
  periods boolean NOT NULL DEFAULT false
);

CREATE TABLE traffic_reviews (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  place_kind text COLLATE "C" NOT NULL,
  place_id uuid NOT NULL,
  since timestamp with time zone NOT NULL,
  until timestamp with time zone NOT NULL,
  decision text COLLATE "C" NOT NULL,
  reason text NOT NULL,
  user_id uuid NOT NULL,
  at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE traffic_rollups (
  minutes smallint NOT NULL,
  place_id uuid NOT NULL,
  slot timestamp with time zone NOT NULL,
  vehicle_type text COLLATE "C",
  n bigint NOT NULL,
  events bigint NOT NULL DEFAULT 0,
  measured bigint NOT NULL,
  speed_sum bigint NOT NULL,
  bins smallint[] NOT NULL DEFAULT '{}'::smallint[],
  counts integer[] NOT NULL DEFAULT '{}'::integer[],
  alive smallint NOT NULL DEFAULT 0,
  types text[] COLLATE "C" NOT NULL DEFAULT '{}'::text[],
  type_counts integer[] NOT NULL DEFAULT '{}'::integer[]
) WITH (fillfactor=70);

CREATE TABLE traffic_unfolded (
  event_ids uuid[] NOT NULL,
  event_types text[] NOT NULL,
  sensor_ids uuid[] NOT NULL,
  location_ids uuid[] NOT NULL,
  vehicle_types text[] NOT NULL,
  speeds double precision[] NOT NULL,
  sign smallint NOT NULL DEFAULT 1,
  first_id uuid,
  last_id uuid,
  directions text[],
  lanes text[],
  classes text[],
  movements text[],
  passage_ids text[]
) WITH (toast_tuple_target=8160, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0, vacuum_truncate=false);

CREATE TABLE traffic_unjudged (
  sensor_id uuid NOT NULL,
  day date NOT NULL,
  attempts smallint,
  due_at timestamp with time zone
);

CREATE TABLE traffic_year_changes (
  concern uuid,
  since timestamp with time zone NOT NULL,
  until timestamp with time zone NOT NULL
);

CREATE TABLE traffic_year_failures (
  place_id uuid NOT NULL,
  year smallint NOT NULL,
  attempts smallint NOT NULL,
  due_at timestamp with time zone NOT NULL
);

CREATE TABLE traffic_years (
  place_id uuid NOT NULL,
  year smallint NOT NULL,
  place_kind text COLLATE "C" NOT NULL,
  timezone text COLLATE "C" NOT NULL,
  rules integer NOT NULL,
  since timestamp with time zone NOT NULL,
  until timestamp with time zone NOT NULL,
  concerns uuid[] NOT NULL,
  means double precision[] NOT NULL,
  day_sums bigint[] NOT NULL,
  days smallint[] NOT NULL,
  hour_sums bigint[] NOT NULL,
  hours smallint[] NOT NULL,
  top_starts timestamp with time zone[] NOT NULL,
  top_volumes bigint[] NOT NULL,
  valid_ms bigint NOT NULL
);

CREATE TABLE users (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  email text NOT NULL,
  password_hash text NOT NULL,
  first_name text NOT NULL,
  last_name text NOT NULL,
  role text NOT NULL,
  phone text,
  avatar text,
  department text,
  is_active boolean NOT NULL DEFAULT true,
  session_epoch integer NOT NULL DEFAULT 0,
  last_login timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE watchlist_alerts (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  entry_id uuid NOT NULL,
  pattern text NOT NULL,
  reason text NOT NULL,
  priority smallint NOT NULL,
  event_id uuid NOT NULL,
  plate text NOT NULL,
  sensor_id uuid,
  sensor_name text,
  location_name text,
  read_at timestamp(3) with time zone NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  acknowledged_at timestamp(3) with time zone,
  acknowledged_by uuid,
  note text,
  vehicle_key text,
  backlog boolean NOT NULL DEFAULT false,
  sightings integer NOT NULL DEFAULT 1,
  last_read_at timestamp(3) with time zone,
  hotlist_id uuid,
  listed jsonb,
  kind text COLLATE "C",
  differences smallint,
  plate_region text,
  confidence smallint,
  state text COLLATE "C",
  code text COLLATE "C",
  decision_note text,
  decided_by uuid,
  decided_at timestamp(3) with time zone,
  released_at timestamp(3) with time zone,
  outcome text COLLATE "C",
  outcome_by uuid,
  outcome_at timestamp(3) with time zone
);

CREATE TABLE watchlist_entries (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  pattern text NOT NULL,
  reason text NOT NULL,
  priority smallint NOT NULL,
  valid_from timestamp(3) with time zone,
  valid_until timestamp(3) with time zone,
  fuzzy boolean NOT NULL,
  created_by uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_by uuid
);

CREATE TABLE watchlist_sightings (
  entry_id uuid NOT NULL,
  event_id uuid NOT NULL,
  alert_id uuid NOT NULL
);

CREATE TABLE webhook_deliveries (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  webhook_id uuid NOT NULL,
  kind text COLLATE "C" NOT NULL,
  body text NOT NULL,
  status text COLLATE "C" NOT NULL DEFAULT 'PENDING'::text,
  attempts integer NOT NULL DEFAULT 0,
  due_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  last_attempt_at timestamp(3) with time zone,
  last_status smallint,
  last_answer text,
  last_error text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  finished_at timestamp(3) with time zone,
  by_hand integer NOT NULL DEFAULT 0
);

CREATE TABLE webhooks (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  url text NOT NULL,
  description text,
  secret text NOT NULL,
  kinds text[] NOT NULL,
  filter jsonb NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  created_by uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE works (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  title text NOT NULL,
  kind text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'DRAFT'::text,
  description text,
  contact text,
  road text,
  direction text COLLATE "C",
  from_kilometre numeric(8,3),
  to_kilometre numeric(8,3),
  location_id uuid,
  geometry jsonb,
  lanes text[],
  sensor_ids uuid[] NOT NULL DEFAULT '{}'::uuid[],
  starts_at timestamp(3) with time zone NOT NULL,
  ends_at timestamp(3) with time zone NOT NULL,
  timezone text NOT NULL,
  recurrence jsonb,
  opens_incident boolean NOT NULL DEFAULT false,
  window_from timestamp(3) with time zone,
  window_until timestamp(3) with time zone,
  next_at timestamp(3) with time zone,
  created_by uuid NOT NULL,
  proposed_by uuid NOT NULL,
  approved_by uuid,
  approved_at timestamp(3) with time zone,
  cancelled_by uuid,
  cancel_reason text,
  version integer NOT NULL DEFAULT 1,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now()
);

CREATE TABLE works_sensors (
  works_id uuid NOT NULL,
  sensor_id uuid NOT NULL,
  status_before text COLLATE "C" NOT NULL,
  set_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE works_windows (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  works_id uuid NOT NULL,
  starts_at timestamp(3) with time zone NOT NULL,
  ends_at timestamp(3) with time zone NOT NULL,
  state text COLLATE "C" NOT NULL,
  began_at timestamp(3) with time zone,
  ended_at timestamp(3) with time zone,
  incident_id uuid
);

CREATE TABLE event_arrivals_folded PARTITION OF event_arrivals FOR VALUES IN (true) WITH (fillfactor=70);

CREATE TABLE event_arrivals_unfolded PARTITION OF event_arrivals FOR VALUES IN (false) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=10000, autovacuum_vacuum_cost_delay=0, vacuum_truncate=false);

CREATE TABLE event_totals_folded PARTITION OF event_totals FOR VALUES IN (true) WITH (fillfactor=70);

CREATE TABLE event_totals_unfolded PARTITION OF event_totals FOR VALUES IN (false) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=10000, autovacuum_vacuum_cost_delay=0, vacuum_truncate=false);

ALTER TABLE activity ADD CONSTRAINT activity_pkey PRIMARY KEY (id);
ALTER TABLE activity_forwarding ADD CONSTRAINT activity_forwarding_pkey PRIMARY KEY (only_row);
ALTER TABLE activity_forwarding ADD CONSTRAINT activity_forwarding_only_row_check CHECK (only_row);
ALTER TABLE agencies ADD CONSTRAINT agencies_pkey PRIMARY KEY (id);
ALTER TABLE agencies ADD CONSTRAINT agencies_kind_check CHECK ((kind = ANY (ARRAY['POLICE'::text, 'FIRE'::text, 'MEDICAL'::text, 'TOW'::text, 'ROAD'::text, 'OTHER'::text])));
ALTER TABLE alarm_evaluation ADD CONSTRAINT alarm_evaluation_pkey PRIMARY KEY (only_row);
ALTER TABLE alarm_evaluation ADD CONSTRAINT alarm_evaluation_only_row_check CHECK (only_row);
ALTER TABLE alarm_groups ADD CONSTRAINT alarm_groups_pkey PRIMARY KEY (id);
ALTER TABLE alarm_rules ADD CONSTRAINT alarm_rules_pkey PRIMARY KEY (id);
ALTER TABLE alarm_rules ADD CONSTRAINT alarm_rules_policy_id_fkey FOREIGN KEY (policy_id) REFERENCES policies(id);
ALTER TABLE alarm_rules ADD CONSTRAINT alarm_rules_for_seconds_check CHECK (((for_seconds >= 0) AND (for_seconds <= 86400)));
ALTER TABLE alarm_rules ADD CONSTRAINT alarm_rules_no_data_check CHECK ((no_data = ANY (ARRAY['KEEP'::text, 'CLEAR'::text, 'ALARM'::text])));
ALTER TABLE alarm_rules ADD CONSTRAINT alarm_rules_severity_check CHECK (((severity >= 1) AND (severity <= 4)));
ALTER TABLE alarms ADD CONSTRAINT alarms_pkey PRIMARY KEY (id);
ALTER TABLE alarms ADD CONSTRAINT alarms_check CHECK (((state = 'CLEARED'::text) = (cleared_at IS NOT NULL)));
ALTER TABLE alarms ADD CONSTRAINT alarms_check1 CHECK (((state = 'PENDING'::text) OR (fired_at IS NOT NULL)));
ALTER TABLE alarms ADD CONSTRAINT alarms_severity_check CHECK (((severity >= 1) AND (severity <= 4)));
ALTER TABLE alarms ADD CONSTRAINT alarms_state_check CHECK ((state = ANY (ARRAY['PENDING'::text, 'FIRING'::text, 'CLEARED'::text])));
ALTER TABLE api_tokens ADD CONSTRAINT api_tokens_token_hash_key UNIQUE (token_hash);
ALTER TABLE api_tokens ADD CONSTRAINT api_tokens_pkey PRIMARY KEY (id);
ALTER TABLE api_tokens ADD CONSTRAINT api_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE audit_entries ADD CONSTRAINT audit_entries_pkey PRIMARY KEY (sample_id, "position");
ALTER TABLE audit_entries ADD CONSTRAINT audit_entries_sample_id_fkey FOREIGN KEY (sample_id) REFERENCES audit_samples(id);
ALTER TABLE audit_judgements ADD CONSTRAINT audit_judgements_pkey PRIMARY KEY (id);
ALTER TABLE audit_judgements ADD CONSTRAINT audit_judgements_verdict_check CHECK ((verdict = ANY (ARRAY['JUSTIFIED'::text, 'UNJUSTIFIED'::text, 'UNCLEAR'::text])));
ALTER TABLE audit_samples ADD CONSTRAINT audit_samples_pkey PRIMARY KEY (id);
ALTER TABLE backups ADD CONSTRAINT backups_pkey PRIMARY KEY (id);
ALTER TABLE backups ADD CONSTRAINT backups_origin_check CHECK ((origin = ANY (ARRAY['SCHEDULE'::text, 'USER'::text, 'COMMAND'::text])));
ALTER TABLE backups ADD CONSTRAINT backups_status_check CHECK ((status = ANY (ARRAY['RUNNING'::text, 'COMPLETED'::text, 'STOPPED'::text, 'FAILED'::text])));
ALTER TABLE calendar_days ADD CONSTRAINT calendar_days_date_kind_location_id_key UNIQUE NULLS NOT DISTINCT (date, kind, location_id);
ALTER TABLE calendar_days ADD CONSTRAINT calendar_days_pkey PRIMARY KEY (id);
ALTER TABLE calendar_days ADD CONSTRAINT calendar_days_location_id_fkey FOREIGN KEY (location_id) REFERENCES locations(id) ON DELETE CASCADE;
ALTER TABLE case_exports ADD CONSTRAINT case_exports_pkey PRIMARY KEY (id);
ALTER TABLE case_exports ADD CONSTRAINT case_exports_check CHECK (((status = 'DONE'::text) = ((manifest IS NOT NULL) AND (signature IS NOT NULL) AND (sha256 IS NOT NULL) AND (bytes IS NOT NULL))));
ALTER TABLE case_exports ADD CONSTRAINT case_exports_check1 CHECK (((status = 'FAILED'::text) = (error IS NOT NULL)));
ALTER TABLE case_exports ADD CONSTRAINT case_exports_status_check CHECK ((status = ANY (ARRAY['QUEUED'::text, 'RUNNING'::text, 'DONE'::text, 'FAILED'::text])));
ALTER TABLE case_items ADD CONSTRAINT case_items_pkey PRIMARY KEY (id);
ALTER TABLE case_items ADD CONSTRAINT case_items_case_id_fkey FOREIGN KEY (case_id) REFERENCES cases(id) ON DELETE CASCADE;
ALTER TABLE case_items ADD CONSTRAINT case_items_sha256_fkey FOREIGN KEY (sha256) REFERENCES images(sha256);
ALTER TABLE case_log ADD CONSTRAINT case_log_case_id_seq_key UNIQUE (case_id, seq);
ALTER TABLE case_log ADD CONSTRAINT case_log_pkey PRIMARY KEY (id);
ALTER TABLE case_log ADD CONSTRAINT case_log_case_id_fkey FOREIGN KEY (case_id) REFERENCES cases(id);
ALTER TABLE case_numbers ADD CONSTRAINT case_numbers_pkey PRIMARY KEY (year);
ALTER TABLE case_requests ADD CONSTRAINT case_requests_pkey PRIMARY KEY (event_id);
ALTER TABLE case_rules ADD CONSTRAINT case_rules_pkey PRIMARY KEY (only_row);
ALTER TABLE case_rules ADD CONSTRAINT case_rules_only_row_check CHECK (only_row);
ALTER TABLE case_rules ADD CONSTRAINT case_rules_open_on_check CHECK ((open_on = ANY (ARRAY['CONFIRMED'::text, 'ARRIVAL'::text])));
ALTER TABLE cases ADD CONSTRAINT cases_number_key UNIQUE (number);
ALTER TABLE cases ADD CONSTRAINT cases_pkey PRIMARY KEY (id);
ALTER TABLE cases ADD CONSTRAINT cases_check CHECK ((((first_by IS NULL) = (first_at IS NULL)) AND ((second_by IS NULL) = (second_at IS NULL)) AND ((decided_by IS NULL) = (decided_at IS NULL)) AND ((closed_by IS NULL) = (closed_at IS NULL))));
ALTER TABLE cases ADD CONSTRAINT cases_check1 CHECK (((code IS NOT NULL) = (state = 'REJECTED'::text)));
ALTER TABLE cases ADD CONSTRAINT cases_check2 CHECK (((closed_at IS NULL) OR (state = ANY (ARRAY['VERIFIED'::text, 'REJECTED'::text, 'EXPORTED'::text]))));
ALTER TABLE cases ADD CONSTRAINT cases_check3 CHECK (((locked_at IS NOT NULL) = (state = ANY (ARRAY['VERIFIED'::text, 'EXPORTED'::text]))));
ALTER TABLE cases ADD CONSTRAINT cases_check4 CHECK (((state = ANY (ARRAY['NEW'::text, 'REJECTED'::text])) OR (first_by IS NOT NULL)));
ALTER TABLE cases ADD CONSTRAINT cases_check5 CHECK (((state <> 'DISPUTED'::text) OR (second_by <> first_by)));
ALTER TABLE cases ADD CONSTRAINT cases_check6 CHECK (((state <> ALL (ARRAY['VERIFIED'::text, 'EXPORTED'::text])) OR (NOT needs_second) OR ((COALESCE(decided_by, second_by) IS NOT NULL) AND (COALESCE(decided_by, second_by) <> first_by))));
ALTER TABLE cases ADD CONSTRAINT cases_kind_check CHECK ((kind = ANY (ARRAY['VIOLATION'::text, 'INCIDENT'::text, 'HIT'::text])));
ALTER TABLE cases ADD CONSTRAINT cases_state_check CHECK ((state = ANY (ARRAY['NEW'::text, 'CHECKED'::text, 'VERIFIED'::text, 'DISPUTED'::text, 'REJECTED'::text, 'EXPORTED'::text])));
ALTER TABLE certificates ADD CONSTRAINT certificates_pkey PRIMARY KEY (id);
ALTER TABLE certificates ADD CONSTRAINT certificates_sha256_fkey FOREIGN KEY (sha256) REFERENCES images(sha256);
ALTER TABLE certificates ADD CONSTRAINT certificates_check CHECK ((valid_from < valid_until));
ALTER TABLE certificates ADD CONSTRAINT certificates_check1 CHECK (((sha256 IS NULL) = (file_name IS NULL)));
ALTER TABLE certificates ADD CONSTRAINT certificates_check2 CHECK ((((withdrawn_at IS NULL) = (withdrawn_by IS NULL)) AND ((withdrawn_at IS NULL) = (withdraw_reason IS NULL))));
ALTER TABLE certificates ADD CONSTRAINT certificates_kind_check CHECK ((kind = ANY (ARRAY['TYPE_APPROVAL'::text, 'CALIBRATION'::text, 'DISTANCE'::text, 'CLOCK'::text])));
ALTER TABLE changes ADD CONSTRAINT changes_pkey PRIMARY KEY (xid, seq);
ALTER TABLE channels ADD CONSTRAINT channels_pkey PRIMARY KEY (id);
ALTER TABLE channels ADD CONSTRAINT channels_kind_check CHECK ((kind = ANY (ARRAY['SMTP'::text, 'SLACK'::text, 'TEAMS'::text, 'TELEGRAM'::text, 'SMS'::text, 'HTTP'::text])));
ALTER TABLE channels ADD CONSTRAINT channels_language_check CHECK ((language = ANY (ARRAY['en'::text, 'tr'::text, 'ar'::text])));
ALTER TABLE channels ADD CONSTRAINT channels_plates_check CHECK ((plates = ANY (ARRAY['HIDE'::text, 'SHOW'::text])));
ALTER TABLE connections ADD CONSTRAINT connections_token_hash_key UNIQUE (token_hash);
ALTER TABLE connections ADD CONSTRAINT connections_username_key UNIQUE (username);
ALTER TABLE connections ADD CONSTRAINT connections_pkey PRIMARY KEY (id);
ALTER TABLE contacts ADD CONSTRAINT contacts_user_id_kind_address_key UNIQUE (user_id, kind, address);
ALTER TABLE contacts ADD CONSTRAINT contacts_pkey PRIMARY KEY (id);
ALTER TABLE contacts ADD CONSTRAINT contacts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE contacts ADD CONSTRAINT contacts_kind_check CHECK ((kind = ANY (ARRAY['EMAIL'::text, 'SMS'::text, 'CHAT'::text])));
ALTER TABLE contacts ADD CONSTRAINT contacts_language_check CHECK ((language = ANY (ARRAY['en'::text, 'tr'::text, 'ar'::text])));
ALTER TABLE damaged_images ADD CONSTRAINT damaged_images_pkey PRIMARY KEY (sha256);
ALTER TABLE damaged_images ADD CONSTRAINT damaged_images_sha256_fkey FOREIGN KEY (sha256) REFERENCES images(sha256) ON DELETE CASCADE;
ALTER TABLE deleted_events ADD CONSTRAINT deleted_events_pkey PRIMARY KEY (event_id);
ALTER TABLE detector_assignments ADD CONSTRAINT detector_assignments_pkey PRIMARY KEY (id);
ALTER TABLE detector_assignments ADD CONSTRAINT detector_assignments_point_id_fkey FOREIGN KEY (point_id) REFERENCES measuring_points(id) ON DELETE CASCADE;
ALTER TABLE detector_assignments ADD CONSTRAINT detector_assignments_check CHECK ((valid_until > valid_from));
ALTER TABLE detector_assignments ADD CONSTRAINT detector_assignments_correction_angle_check CHECK (((correction_angle >= (0)::double precision) AND (correction_angle <= (80)::double precision)));
ALTER TABLE device_discoveries ADD CONSTRAINT device_discoveries_connection_id_device_key UNIQUE (connection_id, device);
ALTER TABLE device_discoveries ADD CONSTRAINT device_discoveries_pkey PRIMARY KEY (id);
ALTER TABLE device_message_images ADD CONSTRAINT device_message_images_pkey PRIMARY KEY (message_id, sha256);
ALTER TABLE device_messages ADD CONSTRAINT device_messages_pkey PRIMARY KEY (id);
ALTER TABLE device_passages ADD CONSTRAINT device_passages_pkey PRIMARY KEY (connection_id, sensor_id, passage);
ALTER TABLE device_reports ADD CONSTRAINT device_reports_pkey PRIMARY KEY (connection_id, key_hash);
ALTER TABLE digest_nonces ADD CONSTRAINT digest_nonces_pkey PRIMARY KEY (nonce);
ALTER TABLE erased_records ADD CONSTRAINT erased_records_pkey PRIMARY KEY (kind, record_id, erasure_id);
ALTER TABLE erased_records ADD CONSTRAINT erased_records_erasure_id_fkey FOREIGN KEY (erasure_id) REFERENCES erasures(id);
ALTER TABLE erased_records ADD CONSTRAINT erased_records_kind_check CHECK ((kind = ANY (ARRAY['EVENT'::text, 'ACTIVITY'::text, 'LOG'::text])));
ALTER TABLE erasures ADD CONSTRAINT erasures_pkey PRIMARY KEY (id);
ALTER TABLE event_arrivals_folded ADD CONSTRAINT event_arrivals_folded_pkey PRIMARY KEY (hour);
ALTER TABLE event_hour_totals ADD CONSTRAINT event_hour_totals_pkey PRIMARY KEY (hour);
ALTER TABLE event_images ADD CONSTRAINT event_images_pkey PRIMARY KEY (event_id, sha256);
ALTER TABLE event_period_totals ADD CONSTRAINT event_period_totals_pkey PRIMARY KEY (period, start, event_type, violation_type, vehicle_type, severity, processed, archived);
ALTER TABLE event_period_totals ADD CONSTRAINT event_period_totals_period_check CHECK ((period = ANY (ARRAY['day'::text, 'month'::text, 'year'::text])));
ALTER TABLE event_reviews ADD CONSTRAINT event_reviews_pkey PRIMARY KEY (id);
ALTER TABLE event_reviews ADD CONSTRAINT event_reviews_decision_check CHECK ((decision = ANY (ARRAY['CONFIRMED'::text, 'REJECTED'::text, 'SECOND_LOOK'::text])));
ALTER TABLE event_totals_folded ADD CONSTRAINT event_totals_folded_pkey PRIMARY KEY (hour, event_type, violation_type, vehicle_type, severity, processed, archived);
ALTER TABLE events ADD CONSTRAINT events_pkey PRIMARY KEY (id);
ALTER TABLE external_identities ADD CONSTRAINT external_identities_pkey PRIMARY KEY (issuer, subject);
ALTER TABLE external_identities ADD CONSTRAINT external_identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE failed_logins ADD CONSTRAINT failed_logins_pkey PRIMARY KEY (key);
ALTER TABLE fault_changes ADD CONSTRAINT fault_changes_pkey PRIMARY KEY (id);
ALTER TABLE fault_changes ADD CONSTRAINT fault_changes_fault_id_fkey FOREIGN KEY (fault_id) REFERENCES faults(id) ON DELETE CASCADE;
ALTER TABLE fault_images ADD CONSTRAINT fault_images_pkey PRIMARY KEY (fault_id, sha256);
ALTER TABLE fault_images ADD CONSTRAINT fault_images_fault_id_fkey FOREIGN KEY (fault_id) REFERENCES faults(id) ON DELETE CASCADE;
ALTER TABLE fault_images ADD CONSTRAINT fault_images_sha256_fkey FOREIGN KEY (sha256) REFERENCES images(sha256);
ALTER TABLE faults ADD CONSTRAINT faults_pkey PRIMARY KEY (id);
ALTER TABLE faults ADD CONSTRAINT faults_state_check CHECK ((state = ANY (ARRAY['FOUND'::text, 'WAITING'::text, 'IN_REPAIR'::text, 'REPAIRED'::text])));
ALTER TABLE former_users ADD CONSTRAINT former_users_pkey PRIMARY KEY (id);
ALTER TABLE held_events ADD CONSTRAINT held_events_pkey PRIMARY KEY (hold_id, event_id);
ALTER TABLE held_events ADD CONSTRAINT held_events_hold_id_fkey FOREIGN KEY (hold_id) REFERENCES legal_holds(id) ON DELETE CASCADE;
ALTER TABLE hit_decisions ADD CONSTRAINT hit_decisions_pkey PRIMARY KEY (hit_id, seq);
ALTER TABLE hit_decisions ADD CONSTRAINT hit_decisions_hit_id_fkey FOREIGN KEY (hit_id) REFERENCES watchlist_alerts(id) ON DELETE CASCADE;
ALTER TABLE hotlist_entries ADD CONSTRAINT hotlist_entries_pkey PRIMARY KEY (hotlist_id, id, from_version);
ALTER TABLE hotlist_imports ADD CONSTRAINT hotlist_imports_pkey PRIMARY KEY (id);
ALTER TABLE hotlist_imports ADD CONSTRAINT hotlist_imports_hotlist_id_fkey FOREIGN KEY (hotlist_id) REFERENCES hotlists(id);
ALTER TABLE hotlist_imports ADD CONSTRAINT hotlist_imports_mode_check CHECK ((mode = ANY (ARRAY['COMPLETE'::text, 'ADD'::text, 'REMOVE'::text])));
ALTER TABLE hotlist_imports ADD CONSTRAINT hotlist_imports_origin_check CHECK ((origin = ANY (ARRAY['UPLOAD'::text, 'FOLDER'::text, 'URL'::text, 'REVERT'::text])));
ALTER TABLE hotlist_imports ADD CONSTRAINT hotlist_imports_state_check CHECK ((state = ANY (ARRAY['UPLOADED'::text, 'STAGING'::text, 'STAGED'::text, 'APPLYING'::text, 'APPLIED'::text, 'UNCHANGED'::text, 'REFUSED'::text, 'CANCELLED'::text, 'FAILED'::text])));
ALTER TABLE hotlist_look_backs ADD CONSTRAINT hotlist_look_backs_pkey PRIMARY KEY (id);
ALTER TABLE hotlist_look_backs ADD CONSTRAINT hotlist_look_backs_hotlist_id_fkey FOREIGN KEY (hotlist_id) REFERENCES hotlists(id);
ALTER TABLE hotlist_look_backs ADD CONSTRAINT hotlist_look_backs_kind_check CHECK ((kind = ANY (ARRAY['CHANGE'::text, 'REQUESTED'::text])));
ALTER TABLE hotlist_look_backs ADD CONSTRAINT hotlist_look_backs_state_check CHECK ((state = ANY (ARRAY['WAITING'::text, 'RUNNING'::text, 'DONE'::text, 'CANCELLED'::text, 'FAILED'::text])));
ALTER TABLE hotlists ADD CONSTRAINT hotlists_pkey PRIMARY KEY (id);
ALTER TABLE hotlists ADD CONSTRAINT hotlists_hit_days_check CHECK ((hit_days > 0));
ALTER TABLE hotlists ADD CONSTRAINT hotlists_max_differences_check CHECK (((max_differences >= 1) AND (max_differences <= 2)));
ALTER TABLE hotlists ADD CONSTRAINT hotlists_min_confidence_check CHECK (((min_confidence >= 0) AND (min_confidence <= 100)));
ALTER TABLE hotlists ADD CONSTRAINT hotlists_priority_check CHECK (((priority >= 1) AND (priority <= 4)));
ALTER TABLE hotlists ADD CONSTRAINT hotlists_repeat_minutes_check CHECK (((repeat_minutes >= 0) AND (repeat_minutes <= 1440)));
ALTER TABLE hotlists ADD CONSTRAINT hotlists_stale_after_hours_check CHECK ((stale_after_hours > 0));
ALTER TABLE hotlists ADD CONSTRAINT hotlists_tolerance_check CHECK ((tolerance = ANY (ARRAY['EXACT'::text, 'CONFUSABLE'::text, 'ONE_OFF'::text])));
ALTER TABLE hotlists ADD CONSTRAINT hotlists_verification_check CHECK ((verification = ANY (ARRAY['ALWAYS'::text, 'WHEN_UNSURE'::text, 'NEVER'::text])));
ALTER TABLE image_checks ADD CONSTRAINT image_checks_pkey PRIMARY KEY (only_row);
ALTER TABLE image_checks ADD CONSTRAINT image_checks_only_row_check CHECK (only_row);
ALTER TABLE image_segments ADD CONSTRAINT image_segments_name_key UNIQUE (name);
ALTER TABLE image_segments ADD CONSTRAINT image_segments_pkey PRIMARY KEY (id);
ALTER TABLE images ADD CONSTRAINT images_pkey PRIMARY KEY (sha256);
ALTER TABLE images ADD CONSTRAINT images_segment_fkey FOREIGN KEY (segment) REFERENCES image_segments(id);
ALTER TABLE images ADD CONSTRAINT images_sha256_check CHECK ((octet_length(sha256) = 32));
ALTER TABLE incident_agencies ADD CONSTRAINT incident_agencies_pkey PRIMARY KEY (id);
ALTER TABLE incident_agencies ADD CONSTRAINT incident_agencies_agency_id_fkey FOREIGN KEY (agency_id) REFERENCES agencies(id) ON DELETE SET NULL;
ALTER TABLE incident_agencies ADD CONSTRAINT incident_agencies_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES incidents(id) ON DELETE CASCADE;
ALTER TABLE incident_events ADD CONSTRAINT incident_events_pkey PRIMARY KEY (incident_id, event_id);
ALTER TABLE incident_events ADD CONSTRAINT incident_events_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES incidents(id) ON DELETE CASCADE;
ALTER TABLE incident_images ADD CONSTRAINT incident_images_pkey PRIMARY KEY (incident_id, sha256);
ALTER TABLE incident_images ADD CONSTRAINT incident_images_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES incidents(id) ON DELETE CASCADE;
ALTER TABLE incident_images ADD CONSTRAINT incident_images_sha256_fkey FOREIGN KEY (sha256) REFERENCES images(sha256);
ALTER TABLE incident_steps ADD CONSTRAINT incident_steps_pkey PRIMARY KEY (incident_id, plan_id, version, key);
ALTER TABLE incident_steps ADD CONSTRAINT incident_steps_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES incidents(id) ON DELETE CASCADE;
ALTER TABLE incident_steps ADD CONSTRAINT incident_steps_state_check CHECK ((state = ANY (ARRAY['DONE'::text, 'SKIPPED'::text])));
ALTER TABLE incident_timeline ADD CONSTRAINT incident_timeline_pkey PRIMARY KEY (id);
ALTER TABLE incident_timeline ADD CONSTRAINT incident_timeline_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES incidents(id) ON DELETE CASCADE;
ALTER TABLE incident_work ADD CONSTRAINT incident_work_pkey PRIMARY KEY (incident_id);
ALTER TABLE incident_work ADD CONSTRAINT incident_work_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES incidents(id) ON DELETE CASCADE;
ALTER TABLE incident_work ADD CONSTRAINT incident_work_merged_into_fkey FOREIGN KEY (merged_into) REFERENCES incidents(id) ON DELETE SET NULL;
ALTER TABLE incident_work ADD CONSTRAINT incident_work_secondary_of_fkey FOREIGN KEY (secondary_of) REFERENCES incidents(id) ON DELETE SET NULL;
ALTER TABLE incident_work ADD CONSTRAINT incident_work_injured_check CHECK ((injured = ANY (ARRAY['NONE'::text, 'MINOR'::text, 'SERIOUS'::text, 'FATAL'::text])));
ALTER TABLE incidents ADD CONSTRAINT incidents_pkey PRIMARY KEY (id);
ALTER TABLE incidents ADD CONSTRAINT incidents_lanes_blocked_check CHECK ((lanes_blocked >= 0));
ALTER TABLE incidents ADD CONSTRAINT incidents_reported_severity_check CHECK (((reported_severity >= 1) AND (reported_severity <= 4)));
ALTER TABLE incidents ADD CONSTRAINT incidents_severity_check CHECK (((severity >= 1) AND (severity <= 4)));
ALTER TABLE incidents ADD CONSTRAINT incidents_status_check CHECK ((status = ANY (ARRAY['OPEN'::text, 'ACKNOWLEDGED'::text, 'IN_PROGRESS'::text, 'RESOLVED'::text, 'CLOSED'::text])));
ALTER TABLE lane_states ADD CONSTRAINT lane_states_pkey PRIMARY KEY (id);
ALTER TABLE lane_states ADD CONSTRAINT lane_states_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES incidents(id) ON DELETE CASCADE;
ALTER TABLE lane_states ADD CONSTRAINT lane_states_lanes_check CHECK (((cardinality(lanes) >= 1) AND (cardinality(lanes) <= 12)));
ALTER TABLE legal_holds ADD CONSTRAINT legal_holds_pkey PRIMARY KEY (id);
ALTER TABLE location_limits ADD CONSTRAINT location_limits_pkey PRIMARY KEY (location_id, since);
ALTER TABLE locations ADD CONSTRAINT locations_pkey PRIMARY KEY (id);
ALTER TABLE locations ADD CONSTRAINT locations_lanes_check CHECK (((lanes >= 1) AND (lanes <= 12)));
ALTER TABLE locations ADD CONSTRAINT locations_speed_units_check CHECK ((speed_units = ANY (ARRAY['KMH'::text, 'MPH'::text])));
ALTER TABLE log_entries ADD CONSTRAINT log_entries_pkey PRIMARY KEY (id);
ALTER TABLE log_entries ADD CONSTRAINT log_entries_kind_check CHECK ((kind = ANY (ARRAY['NOTE'::text, 'CALL'::text, 'INSTRUCTION'::text, 'FAULT'::text, 'VISIT'::text])));
ALTER TABLE measuring_points ADD CONSTRAINT measuring_points_pkey PRIMARY KEY (id);
ALTER TABLE measuring_points ADD CONSTRAINT measuring_points_location_id_fkey FOREIGN KEY (location_id) REFERENCES locations(id) ON DELETE CASCADE;
ALTER TABLE measuring_points ADD CONSTRAINT measuring_points_bearing_check CHECK (((bearing >= 0) AND (bearing <= 359)));
ALTER TABLE measuring_points ADD CONSTRAINT measuring_points_check CHECK ((valid_until > valid_from));
ALTER TABLE measuring_points ADD CONSTRAINT measuring_points_lanes_check CHECK (((lanes >= 1) AND (lanes <= 12)));
ALTER TABLE notices ADD CONSTRAINT notices_pkey PRIMARY KEY (id);
ALTER TABLE notices ADD CONSTRAINT notices_kind_check CHECK ((kind = ANY (ARRAY['FIRST'::text, 'CHANGED'::text, 'REPEAT'::text, 'ESCALATED'::text, 'CLEARED'::text, 'SUMMARY'::text, 'TEST'::text, 'PLAN'::text]))) NOT VALID;
ALTER TABLE notices ADD CONSTRAINT notices_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'SENT'::text, 'FAILED'::text, 'DROPPED'::text])));
ALTER TABLE oidc_logins ADD CONSTRAINT oidc_logins_pkey PRIMARY KEY (key_hash);
ALTER TABLE oidc_logins ADD CONSTRAINT oidc_logins_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE password_resets ADD CONSTRAINT password_resets_pkey PRIMARY KEY (token_hash);
ALTER TABLE plan_versions ADD CONSTRAINT plan_versions_pkey PRIMARY KEY (plan_id, version);
ALTER TABLE plans ADD CONSTRAINT plans_pkey PRIMARY KEY (id);
ALTER TABLE plans ADD CONSTRAINT plans_min_severity_check CHECK (((min_severity >= 1) AND (min_severity <= 4)));
ALTER TABLE plate_keys ADD CONSTRAINT plate_keys_pkey PRIMARY KEY (only_row);
ALTER TABLE plate_keys ADD CONSTRAINT plate_keys_only_row_check CHECK (only_row);
ALTER TABLE policies ADD CONSTRAINT policies_pkey PRIMARY KEY (id);
ALTER TABLE policies ADD CONSTRAINT policies_group_interval_s_check CHECK ((group_interval_s > 0));
ALTER TABLE policies ADD CONSTRAINT policies_group_wait_s_check CHECK ((group_wait_s >= 0));
ALTER TABLE policies ADD CONSTRAINT policies_repeat_minutes_check CHECK ((repeat_minutes > 0));
ALTER TABLE recovery_codes ADD CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, code_hash);
ALTER TABLE recovery_codes ADD CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE removed_case_log ADD CONSTRAINT removed_case_log_pkey PRIMARY KEY (id);
ALTER TABLE report_dispatches ADD CONSTRAINT report_dispatches_report_id_kind_recipient_key UNIQUE (report_id, kind, recipient);
ALTER TABLE report_dispatches ADD CONSTRAINT report_dispatches_pkey PRIMARY KEY (id);
ALTER TABLE report_dispatches ADD CONSTRAINT report_dispatches_kind_check CHECK ((kind = ANY (ARRAY['EMAIL'::text, 'USER'::text, 'FOLDER'::text])));
ALTER TABLE report_dispatches ADD CONSTRAINT report_dispatches_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'SENT'::text, 'FAILED'::text])));
ALTER TABLE report_schedules ADD CONSTRAINT report_schedules_pkey PRIMARY KEY (id);
ALTER TABLE report_schedules ADD CONSTRAINT report_schedules_day_of_month_check CHECK (((day_of_month >= 1) AND (day_of_month <= 31)));
ALTER TABLE report_schedules ADD CONSTRAINT report_schedules_every_check CHECK ((every = ANY (ARRAY['DAILY'::text, 'WEEKLY'::text, 'MONTHLY'::text])));
ALTER TABLE report_schedules ADD CONSTRAINT report_schedules_hour_check CHECK (((hour >= 0) AND (hour <= 23)));
ALTER TABLE report_schedules ADD CONSTRAINT report_schedules_weekday_check CHECK (((weekday >= 0) AND (weekday <= 6)));
ALTER TABLE reports ADD CONSTRAINT reports_schedule_id_due_at_key UNIQUE (schedule_id, due_at);
ALTER TABLE reports ADD CONSTRAINT reports_pkey PRIMARY KEY (id);
ALTER TABLE reports ADD CONSTRAINT reports_status_check CHECK ((status = ANY (ARRAY['QUEUED'::text, 'RUNNING'::text, 'DONE'::text, 'FAILED'::text, 'CANCELLED'::text])));
ALTER TABLE retention_removals ADD CONSTRAINT retention_removals_pkey PRIMARY KEY (run_id, class, event_type, month);
ALTER TABLE retention_removals ADD CONSTRAINT retention_removals_run_id_fkey FOREIGN KEY (run_id) REFERENCES retention_runs(id) ON DELETE CASCADE;
ALTER TABLE retention_removals ADD CONSTRAINT retention_removals_class_check CHECK ((class = ANY (ARRAY['events'::text, 'images'::text, 'reports'::text, 'activity'::text, 'traffic'::text, 'hits'::text, 'log'::text, 'cases'::text])));
ALTER TABLE retention_runs ADD CONSTRAINT retention_runs_pkey PRIMARY KEY (id);
ALTER TABLE retention_runs ADD CONSTRAINT retention_runs_status_check CHECK ((status = ANY (ARRAY['RUNNING'::text, 'COMPLETED'::text, 'STOPPED'::text, 'FAILED'::text])));
ALTER TABLE retention_settings ADD CONSTRAINT retention_settings_pkey PRIMARY KEY (only_row);
ALTER TABLE retention_settings ADD CONSTRAINT activity_is_kept CHECK ((activity_days >= 90));
ALTER TABLE retention_settings ADD CONSTRAINT log_is_kept CHECK ((log_days >= 365));
ALTER TABLE retention_settings ADD CONSTRAINT retention_settings_cases_days_check CHECK ((cases_days >= 1));
ALTER TABLE retention_settings ADD CONSTRAINT retention_settings_only_row_check CHECK (only_row);
ALTER TABLE revoked_tokens ADD CONSTRAINT revoked_tokens_pkey PRIMARY KEY (token_id);
ALTER TABLE rotas ADD CONSTRAINT rotas_pkey PRIMARY KEY (id);
ALTER TABLE saved_views ADD CONSTRAINT saved_views_pkey PRIMARY KEY (id);
ALTER TABLE saved_views ADD CONSTRAINT saved_views_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE saved_views ADD CONSTRAINT saved_views_check CHECK (((owner_id IS NULL) OR ((owner_id = created_by) AND (NOT is_default))));
ALTER TABLE seal_check ADD CONSTRAINT seal_check_pkey PRIMARY KEY (only_row);
ALTER TABLE seal_check ADD CONSTRAINT seal_check_only_row_check CHECK (only_row);
ALTER TABLE seal_keys ADD CONSTRAINT seal_keys_pkey PRIMARY KEY (id);
ALTER TABLE seal_progress ADD CONSTRAINT seal_progress_pkey PRIMARY KEY (kind);
ALTER TABLE seals ADD CONSTRAINT seals_pkey PRIMARY KEY (seq);
ALTER TABLE seals ADD CONSTRAINT seals_check CHECK (((length(leaves) = (2 * length(ids))) AND (length(leaves) > 0)));
ALTER TABLE seals ADD CONSTRAINT seals_kind_check CHECK ((kind = ANY (ARRAY['KEY'::text, 'EVENT'::text, 'ACTIVITY'::text, 'LOG'::text, 'CASE_LOG'::text, 'CERTIFICATE'::text]))) NOT VALID;
ALTER TABLE second_factors ADD CONSTRAINT second_factors_pkey PRIMARY KEY (user_id);
ALTER TABLE second_factors ADD CONSTRAINT second_factors_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE sensor_clocks ADD CONSTRAINT sensor_clocks_pkey PRIMARY KEY (sensor_id);
ALTER TABLE sensor_places ADD CONSTRAINT sensor_places_pkey PRIMARY KEY (sensor_id, since);
ALTER TABLE sensor_status_history ADD CONSTRAINT sensor_status_history_pkey PRIMARY KEY (id);
ALTER TABLE sensor_watch ADD CONSTRAINT sensor_watch_pkey PRIMARY KEY (only_row);
ALTER TABLE sensor_watch ADD CONSTRAINT sensor_watch_only_row_check CHECK (only_row);
ALTER TABLE sensor_watch_gaps ADD CONSTRAINT sensor_watch_gaps_pkey PRIMARY KEY (since);
ALTER TABLE sensors ADD CONSTRAINT sensors_api_key_key UNIQUE (api_key);
ALTER TABLE sensors ADD CONSTRAINT sensors_device_id_key UNIQUE (device_id);
ALTER TABLE sensors ADD CONSTRAINT sensors_pkey PRIMARY KEY (id);
ALTER TABLE sensors ADD CONSTRAINT sensors_location_id_fkey FOREIGN KEY (location_id) REFERENCES locations(id);
ALTER TABLE sensors ADD CONSTRAINT sensors_api_key_check CHECK ((api_key ~ '^[0-9a-f]{64}$'::text));
ALTER TABLE sensors ADD CONSTRAINT sensors_events_per_min_check CHECK ((events_per_min > 0));
ALTER TABLE sensors ADD CONSTRAINT sensors_status_check CHECK ((status = ANY (ARRAY['ONLINE'::text, 'OFFLINE'::text, 'MAINTENANCE'::text, 'ERROR'::text])));
ALTER TABLE sensors ADD CONSTRAINT sensors_type_check CHECK ((type = ANY (ARRAY['CAMERA'::text, 'RADAR'::text, 'ANPR'::text, 'SPEED_DETECTOR'::text, 'EDGE_CONTROLLER'::text])));
ALTER TABLE sessions ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);
ALTER TABLE sessions ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE settings ADD CONSTRAINT settings_pkey PRIMARY KEY (only_row);
ALTER TABLE settings ADD CONSTRAINT settings_first_day_of_week_check CHECK (((first_day_of_week >= 0) AND (first_day_of_week <= 6)));
ALTER TABLE settings ADD CONSTRAINT settings_only_row_check CHECK (only_row);
ALTER TABLE shifts ADD CONSTRAINT shifts_pkey PRIMARY KEY (id);
ALTER TABLE shifts ADD CONSTRAINT shifts_check CHECK ((((summary IS NULL) = (handed_over_at IS NULL)) AND ((summary IS NULL) = (handed_over_by IS NULL))));
ALTER TABLE shifts ADD CONSTRAINT shifts_check1 CHECK (((ended_at IS NULL) = ((accepted_by IS NULL) AND (closed_by IS NULL))));
ALTER TABLE shifts ADD CONSTRAINT shifts_check2 CHECK (((accepted_by IS NULL) OR (summary IS NOT NULL)));
ALTER TABLE shifts ADD CONSTRAINT shifts_check3 CHECK (((closed_by IS NULL) = (close_reason IS NULL)));
ALTER TABLE silences ADD CONSTRAINT silences_pkey PRIMARY KEY (id);
ALTER TABLE silences ADD CONSTRAINT silences_check CHECK ((ends_at > starts_at));
ALTER TABLE situation_reports ADD CONSTRAINT situation_reports_incident_id_number_key UNIQUE (incident_id, number);
ALTER TABLE situation_reports ADD CONSTRAINT situation_reports_pkey PRIMARY KEY (id);
ALTER TABLE situation_reports ADD CONSTRAINT situation_reports_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES incidents(id) ON DELETE CASCADE;
ALTER TABLE situation_reports ADD CONSTRAINT situation_reports_audience_check CHECK ((audience = ANY (ARRAY['INTERNAL'::text, 'PARTNERS'::text, 'PUBLIC'::text])));
ALTER TABLE situation_reports ADD CONSTRAINT situation_reports_kind_check CHECK ((kind = ANY (ARRAY['INITIAL'::text, 'INTERMEDIATE'::text, 'FINAL'::text])));
ALTER TABLE studies ADD CONSTRAINT studies_pkey PRIMARY KEY (id);
ALTER TABLE studies ADD CONSTRAINT studies_check CHECK (((status = 'DRAFT'::text) = (num_nulls(frozen_by, frozen_by_name, frozen_at, program_version, hash, data, figures) = 7)));
ALTER TABLE studies ADD CONSTRAINT studies_check1 CHECK (((status = ANY (ARRAY['DRAFT'::text, 'FROZEN'::text])) = (reviewer IS NULL)));
ALTER TABLE studies ADD CONSTRAINT studies_check2 CHECK (((status <> 'SIGNED'::text) OR ((reviewer <> author) AND (reviewer <> frozen_by))));
ALTER TABLE studies ADD CONSTRAINT studies_hash_check CHECK ((hash ~ '^[0-9a-f]{64}$'::text));
ALTER TABLE studies ADD CONSTRAINT studies_status_check CHECK ((status = ANY (ARRAY['DRAFT'::text, 'FROZEN'::text, 'SIGNED'::text, 'REJECTED'::text])));
ALTER TABLE traffic_bins ADD CONSTRAINT traffic_bins_minutes_sensor_id_slot_location_id_source_key UNIQUE NULLS NOT DISTINCT (minutes, sensor_id, slot, location_id, source);
ALTER TABLE traffic_bins ADD CONSTRAINT traffic_bins_minutes_check CHECK ((minutes = ANY (ARRAY[1, 5, 15, 60, 1440])));
ALTER TABLE traffic_bins ADD CONSTRAINT traffic_bins_source_check CHECK (((source >= 0) AND (source <= 4)));
ALTER TABLE traffic_cells ADD CONSTRAINT traffic_cells_vehicle_type_vehicle_class_direction_lane_mov_key UNIQUE (vehicle_type, vehicle_class, direction, lane, movement, event_type);
ALTER TABLE traffic_cells ADD CONSTRAINT traffic_cells_pkey PRIMARY KEY (id);
ALTER TABLE traffic_kept ADD CONSTRAINT traffic_kept_pkey PRIMARY KEY (only_row);
ALTER TABLE traffic_kept ADD CONSTRAINT traffic_kept_only_row_check CHECK (only_row);
ALTER TABLE traffic_observed ADD CONSTRAINT traffic_observed_pkey PRIMARY KEY (sensor_id, since);
ALTER TABLE traffic_period_revisions ADD CONSTRAINT traffic_period_revisions_pkey PRIMARY KEY (sensor_id, direction, lane, movement, start, revision);
ALTER TABLE traffic_periods ADD CONSTRAINT traffic_periods_pkey PRIMARY KEY (sensor_id, direction, lane, movement, start);
ALTER TABLE traffic_periods ADD CONSTRAINT traffic_periods_seconds_check CHECK (((seconds >= 10) AND (seconds <= 86400)));
ALTER TABLE traffic_places ADD CONSTRAINT traffic_places_pkey PRIMARY KEY (location_id, sensor_id);
ALTER TABLE traffic_reviews ADD CONSTRAINT traffic_reviews_pkey PRIMARY KEY (id);
ALTER TABLE traffic_reviews ADD CONSTRAINT traffic_reviews_check CHECK ((until > since));
ALTER TABLE traffic_reviews ADD CONSTRAINT traffic_reviews_decision_check CHECK ((decision = ANY (ARRAY['ACCEPT'::text, 'REJECT'::text])));
ALTER TABLE traffic_rollups ADD CONSTRAINT traffic_rollups_minutes_place_id_slot_vehicle_type_key UNIQUE NULLS NOT DISTINCT (minutes, place_id, slot, vehicle_type);
ALTER TABLE traffic_rollups ADD CONSTRAINT traffic_rollups_minutes_check CHECK ((minutes = ANY (ARRAY[1, 5, 15, 60, 1440])));
ALTER TABLE traffic_unfolded ADD CONSTRAINT traffic_unfolded_sign_check CHECK ((sign = ANY (ARRAY['-1'::integer, 1])));
ALTER TABLE traffic_unjudged ADD CONSTRAINT traffic_unjudged_pkey PRIMARY KEY (sensor_id, day);
ALTER TABLE traffic_year_failures ADD CONSTRAINT traffic_year_failures_pkey PRIMARY KEY (place_id, year);
ALTER TABLE traffic_years ADD CONSTRAINT traffic_years_pkey PRIMARY KEY (place_id, year);
ALTER TABLE users ADD CONSTRAINT users_email_key UNIQUE (email);
ALTER TABLE users ADD CONSTRAINT users_pkey PRIMARY KEY (id);
ALTER TABLE users ADD CONSTRAINT users_email_check CHECK ((email = lower(email)));
ALTER TABLE users ADD CONSTRAINT users_role_check CHECK ((role = ANY (ARRAY['ADMIN'::text, 'OPERATOR'::text, 'ANALYST'::text, 'FIELD'::text, 'VIEWER'::text])));
ALTER TABLE watchlist_alerts ADD CONSTRAINT watchlist_alerts_entry_id_event_id_key UNIQUE (entry_id, event_id);
ALTER TABLE watchlist_alerts ADD CONSTRAINT watchlist_alerts_pkey PRIMARY KEY (id);
ALTER TABLE watchlist_entries ADD CONSTRAINT watchlist_entries_pkey PRIMARY KEY (id);
ALTER TABLE watchlist_entries ADD CONSTRAINT watchlist_entries_priority_check CHECK (((priority >= 1) AND (priority <= 4)));
ALTER TABLE watchlist_sightings ADD CONSTRAINT watchlist_sightings_pkey PRIMARY KEY (entry_id, event_id);
ALTER TABLE watchlist_sightings ADD CONSTRAINT watchlist_sightings_alert_id_fkey FOREIGN KEY (alert_id) REFERENCES watchlist_alerts(id) ON DELETE CASCADE;
ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id);
ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE;
ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'DELIVERED'::text, 'DEAD'::text])));
ALTER TABLE webhooks ADD CONSTRAINT webhooks_pkey PRIMARY KEY (id);
ALTER TABLE works ADD CONSTRAINT works_pkey PRIMARY KEY (id);
ALTER TABLE works ADD CONSTRAINT works_location_id_fkey FOREIGN KEY (location_id) REFERENCES locations(id) ON DELETE SET NULL;
ALTER TABLE works ADD CONSTRAINT works_check CHECK ((starts_at < ends_at));
ALTER TABLE works ADD CONSTRAINT works_check1 CHECK (((next_at IS NOT NULL) = (state = ANY (ARRAY['APPROVED'::text, 'ACTIVE'::text]))));
ALTER TABLE works ADD CONSTRAINT works_check2 CHECK (((window_from IS NULL) = (window_until IS NULL)));
ALTER TABLE works ADD CONSTRAINT works_check3 CHECK (((next_at IS NULL) OR (window_from IS NOT NULL)));
ALTER TABLE works ADD CONSTRAINT works_kind_check CHECK ((kind = ANY (ARRAY['ROADWORKS'::text, 'CLOSURE'::text, 'EVENT'::text, 'MAINTENANCE'::text])));
ALTER TABLE works ADD CONSTRAINT works_lanes_check CHECK (((cardinality(lanes) >= 1) AND (cardinality(lanes) <= 12)));
ALTER TABLE works ADD CONSTRAINT works_state_check CHECK ((state = ANY (ARRAY['DRAFT'::text, 'APPROVED'::text, 'ACTIVE'::text, 'ENDED'::text, 'CANCELLED'::text])));
ALTER TABLE works_sensors ADD CONSTRAINT works_sensors_pkey PRIMARY KEY (works_id, sensor_id);
ALTER TABLE works_sensors ADD CONSTRAINT works_sensors_works_id_fkey FOREIGN KEY (works_id) REFERENCES works(id) ON DELETE CASCADE;
ALTER TABLE works_windows ADD CONSTRAINT works_windows_pkey PRIMARY KEY (id);
ALTER TABLE works_windows ADD CONSTRAINT works_windows_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES incidents(id) ON DELETE SET NULL;
ALTER TABLE works_windows ADD CONSTRAINT works_windows_works_id_fkey FOREIGN KEY (works_id) REFERENCES works(id) ON DELETE CASCADE;
ALTER TABLE works_windows ADD CONSTRAINT works_windows_check CHECK (((began_at IS NULL) = (state = 'MISSED'::text)));
ALTER TABLE works_windows ADD CONSTRAINT works_windows_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'ENDED'::text, 'MISSED'::text, 'CANCELLED'::text])));

CREATE INDEX activity_by_commit ON public.activity USING btree (COALESCE(xid, '0'::xid8), id);
CREATE INDEX activity_by_time ON public.activity USING btree (at, id);
CREATE UNIQUE INDEX activity_gathered ON public.activity USING btree (gathered) WHERE (gathered IS NOT NULL);
CREATE INDEX activity_of_user ON public.activity USING btree (user_id, id DESC);
CREATE INDEX alarm_groups_closed ON public.alarm_groups USING btree (closed_at) WHERE (closed_at IS NOT NULL);
CREATE UNIQUE INDEX alarm_groups_open ON public.alarm_groups USING btree (policy_id, group_key) WHERE (closed_at IS NULL);
CREATE INDEX alarm_rules_of_policy ON public.alarm_rules USING btree (policy_id) WHERE (policy_id IS NOT NULL);
CREATE INDEX alarms_by_firing ON public.alarms USING btree (fired_at, id) WHERE (fired_at IS NOT NULL);
CREATE INDEX alarms_cleared ON public.alarms USING btree (cleared_at) WHERE (cleared_at IS NOT NULL);
CREATE UNIQUE INDEX alarms_open ON public.alarms USING btree (rule_id, key) WHERE (state <> 'CLEARED'::text);
CREATE INDEX alarms_unsettled ON public.alarms USING btree (group_id) WHERE ((state = 'CLEARED'::text) AND (NOT is_settled));
CREATE INDEX api_tokens_of_user ON public.api_tokens USING btree (user_id, created_at DESC);
CREATE INDEX audit_entries_by_entry ON public.audit_entries USING btree (entry_id);
CREATE INDEX audit_judgements_by_entry ON public.audit_judgements USING btree (entry_id, id);
CREATE INDEX audit_samples_by_time ON public.audit_samples USING btree (drawn_at);
CREATE INDEX backups_by_start ON public.backups USING btree (started_at, id);
CREATE UNIQUE INDEX backups_under_way ON public.backups USING btree ((true)) WHERE (status = 'RUNNING'::text);
CREATE INDEX calendar_days_of_location ON public.calendar_days USING btree (location_id) WHERE (location_id IS NOT NULL);
CREATE INDEX case_exports_by_expiry ON public.case_exports USING btree (expires_at) WHERE (file_key IS NOT NULL);
CREATE INDEX case_exports_of_case ON public.case_exports USING btree (case_id, created_at);
CREATE INDEX case_exports_open ON public.case_exports USING btree (created_at, id) WHERE (status = ANY (ARRAY['QUEUED'::text, 'RUNNING'::text]));
CREATE INDEX case_items_by_event ON public.case_items USING btree (event_id) WHERE (event_id IS NOT NULL);
CREATE INDEX case_items_by_file ON public.case_items USING btree (sha256) WHERE (sha256 IS NOT NULL);
CREATE INDEX case_items_of_case ON public.case_items USING btree (case_id, seq);
CREATE INDEX case_log_by_time ON public.case_log USING btree (at, id);
CREATE INDEX case_requests_by_time ON public.case_requests USING btree (at);
CREATE INDEX cases_by_closing ON public.cases USING btree (closed_at) WHERE (closed_at IS NOT NULL);
CREATE INDEX cases_by_code ON public.cases USING btree (code, happened_at, id) WHERE (code IS NOT NULL);
CREATE INDEX cases_by_first ON public.cases USING btree (first_by, happened_at, id) WHERE (first_by IS NOT NULL);
CREATE INDEX cases_by_hold ON public.cases USING btree (hold_id);
CREATE INDEX cases_by_plate ON public.cases USING btree (plate_key) WHERE (plate_key IS NOT NULL);
CREATE INDEX cases_by_time ON public.cases USING btree (happened_at, id);
CREATE INDEX cases_by_violation ON public.cases USING btree (gantry_fold(violation_type), happened_at, id);
CREATE UNIQUE INDEX cases_of_event ON public.cases USING btree (event_id) WHERE (kind = 'VIOLATION'::text);
CREATE UNIQUE INDEX cases_of_hit ON public.cases USING btree (hit_id) WHERE (kind = 'HIT'::text);
CREATE UNIQUE INDEX cases_of_incident ON public.cases USING btree (incident_id) WHERE (kind = 'INCIDENT'::text);
CREATE INDEX cases_of_sensor ON public.cases USING btree (sensor_id, happened_at);
CREATE INDEX cases_open ON public.cases USING btree (state, happened_at, id) WHERE (closed_at IS NULL);
CREATE INDEX cases_open_by_time ON public.cases USING btree (happened_at, id) WHERE (closed_at IS NULL);
CREATE INDEX certificates_by_creation ON public.certificates USING btree (created_at, id);
CREATE INDEX certificates_by_end ON public.certificates USING btree (valid_until) WHERE (withdrawn_at IS NULL);
CREATE INDEX certificates_by_file ON public.certificates USING btree (sha256) WHERE (sha256 IS NOT NULL);
CREATE INDEX certificates_of_sensor ON public.certificates USING btree (sensor_id, kind, valid_from);
CREATE INDEX connections_deleted ON public.connections USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX connections_of_sensor ON public.connections USING btree (sensor_id);
CREATE INDEX deleted_events_by_time ON public.deleted_events USING btree (at);
CREATE INDEX detector_assignments_of_point ON public.detector_assignments USING btree (point_id);
CREATE INDEX detector_assignments_of_sensor ON public.detector_assignments USING btree (sensor_id);
CREATE INDEX device_message_images_by_image ON public.device_message_images USING btree (sha256);
CREATE INDEX device_messages_by_status ON public.device_messages USING btree (connection_id, status, id) WHERE (status <> 'RECEIVED'::text);
CREATE INDEX device_messages_changed ON public.device_messages USING btree (connection_id, changed_by, id);
CREATE INDEX device_messages_due ON public.device_messages USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX device_messages_of_connection ON public.device_messages USING btree (connection_id, id);
CREATE INDEX device_passages_by_time ON public.device_passages USING btree (received_at);
CREATE INDEX device_passages_due ON public.device_passages USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX device_reports_by_time ON public.device_reports USING btree (received_at);
CREATE INDEX digest_nonces_by_expiry ON public.digest_nonces USING btree (expires_at);
CREATE INDEX erased_records_of_erasure ON public.erased_records USING btree (erasure_id);
CREATE INDEX event_images_by_image ON public.event_images USING btree (sha256);
CREATE INDEX event_images_by_time ON public.event_images USING brin (at);
CREATE INDEX event_reviews_of_event ON public.event_reviews USING btree (event_id, seq);
CREATE INDEX events_archived ON ONLY public.events USING btree (id) WHERE archived;
CREATE INDEX events_by_creation ON ONLY public.events USING btree (created_at, id);
CREATE INDEX events_by_location ON ONLY public.events USING btree (location_key, id) WHERE (location_key IS NOT NULL);
CREATE INDEX events_by_passage ON ONLY public.events USING btree (sensor_id, passage_id, id) WHERE (passage_id IS NOT NULL);
CREATE INDEX events_by_plate ON ONLY public.events USING btree (plate_key, id) WHERE (plate_key IS NOT NULL);
CREATE INDEX events_by_plate_end ON ONLY public.events USING btree (reverse(plate_key), id) INCLUDE (plate_key) WHERE (plate_key IS NOT NULL);
CREATE INDEX events_by_processing ON ONLY public.events USING btree (processed_at, created_at) WHERE (processed_at IS NOT NULL);
CREATE INDEX events_by_sensor ON ONLY public.events USING btree (sensor_id, id);
CREATE INDEX events_by_severity ON ONLY public.events USING btree (severity, id) WHERE (severity >= 3);
CREATE INDEX events_by_type ON ONLY public.events USING btree (event_type, id);
CREATE INDEX events_by_violation ON ONLY public.events USING btree (lower(violation_type), id) WHERE (violation_type IS NOT NULL);
CREATE INDEX events_unprocessed ON ONLY public.events USING btree (id) WHERE (NOT processed);
CREATE INDEX events_to_follow_up_by_event ON public.events_to_follow_up USING btree (event_id);
CREATE INDEX events_to_follow_up_by_turn ON public.events_to_follow_up USING btree (attempts, retry_at);
CREATE INDEX external_identities_of_user ON public.external_identities USING btree (user_id);
CREATE INDEX fault_changes_of_fault ON public.fault_changes USING btree (fault_id, id);
CREATE INDEX fault_images_by_image ON public.fault_images USING btree (sha256);
CREATE INDEX faults_by_time ON public.faults USING btree (found_at, id);
CREATE INDEX faults_of_sensor ON public.faults USING btree (sensor_id, found_at);
CREATE INDEX faults_open ON public.faults USING btree (sensor_id) WHERE (state <> 'REPAIRED'::text);
CREATE UNIQUE INDEX faults_open_once ON public.faults USING btree (sensor_id, gantry_fold(code)) WHERE ((state <> 'REPAIRED'::text) AND (code IS NOT NULL));
CREATE UNIQUE INDEX faults_reported_once ON public.faults USING btree (reported_by, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX held_events_by_event ON public.held_events USING btree (event_id);
CREATE INDEX hotlist_entries_by_key ON public.hotlist_entries USING btree (confusable_key);
CREATE INDEX hotlist_entries_by_plate ON public.hotlist_entries USING btree (hotlist_id, plate_key);
CREATE INDEX hotlist_entries_ended ON public.hotlist_entries USING btree (hotlist_id, to_version) WHERE (to_version IS NOT NULL);
CREATE INDEX hotlist_entries_patterns ON public.hotlist_entries USING btree (hotlist_id) WHERE (plate_key ~~ '%*%'::text);
CREATE INDEX hotlist_entries_since ON public.hotlist_entries USING btree (hotlist_id, from_version);
CREATE INDEX hotlist_imports_due ON public.hotlist_imports USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX hotlist_imports_of_list ON public.hotlist_imports USING btree (hotlist_id, at, id);
CREATE INDEX hotlist_look_backs_due ON public.hotlist_look_backs USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX hotlist_look_backs_of_list ON public.hotlist_look_backs USING btree (hotlist_id, created_at, id);
CREATE INDEX hotlist_near_by_text ON public.hotlist_near USING btree (near);
CREATE INDEX hotlist_near_of_entry ON public.hotlist_near USING btree (hotlist_id, entry_id);
CREATE INDEX hotlist_staged_by_entry ON public.hotlist_staged USING btree (import_id, id, line DESC);
CREATE UNIQUE INDEX hotlists_by_name ON public.hotlists USING btree (gantry_fold(name)) WHERE (deleted_at IS NULL);
CREATE INDEX images_by_segment ON public.images USING btree (segment) WHERE (segment IS NOT NULL);
CREATE INDEX incident_agencies_of_agency ON public.incident_agencies USING btree (agency_id) WHERE (agency_id IS NOT NULL);
CREATE INDEX incident_agencies_of_incident ON public.incident_agencies USING btree (incident_id, added_at);
CREATE INDEX incident_events_by_event ON public.incident_events USING btree (event_id);
CREATE INDEX incident_images_by_image ON public.incident_images USING btree (sha256);
CREATE INDEX incident_timeline_of_incident ON public.incident_timeline USING btree (incident_id, id);
CREATE INDEX incident_work_by_merged ON public.incident_work USING btree (merged_into) WHERE (merged_into IS NOT NULL);
CREATE INDEX incident_work_by_primary ON public.incident_work USING btree (secondary_of) WHERE (secondary_of IS NOT NULL);
CREATE INDEX incidents_by_opening ON public.incidents USING btree (opened_at, id);
CREATE INDEX incidents_by_status ON public.incidents USING btree (status, opened_at, id);
CREATE INDEX incidents_of_assignee ON public.incidents USING btree (assigned_to, opened_at) WHERE (assigned_to IS NOT NULL);
CREATE INDEX incidents_of_sensor ON public.incidents USING btree (sensor_id, opened_at);
CREATE INDEX incidents_open_of_sensor ON public.incidents USING btree (sensor_id, COALESCE(last_event_at, opened_at), opened_at) WHERE (status = ANY (ARRAY['OPEN'::text, 'ACKNOWLEDGED'::text, 'IN_PROGRESS'::text]));
CREATE INDEX incidents_open_of_source ON public.incidents USING btree (sensor_id, source_key) WHERE ((source_key IS NOT NULL) AND (status = ANY (ARRAY['OPEN'::text, 'ACKNOWLEDGED'::text, 'IN_PROGRESS'::text])));
CREATE INDEX lane_states_of_incident ON public.lane_states USING btree (incident_id, id);
CREATE INDEX legal_holds_by_creation ON public.legal_holds USING btree (created_at, id);
CREATE INDEX log_entries_by_creation ON public.log_entries USING btree (created_at);
CREATE INDEX log_entries_by_ref ON public.log_entries USING gin (refs jsonb_path_ops) WHERE (refs <> '[]'::jsonb);
CREATE INDEX log_entries_by_time ON public.log_entries USING btree (at, id);
CREATE UNIQUE INDEX log_entries_corrections ON public.log_entries USING btree (corrects) WHERE (corrects IS NOT NULL);
CREATE INDEX log_entries_instructions ON public.log_entries USING btree (at) WHERE (kind = 'INSTRUCTION'::text);
CREATE INDEX log_entries_of_shift ON public.log_entries USING btree (shift_id) WHERE (shift_id IS NOT NULL);
CREATE UNIQUE INDEX log_entries_once ON public.log_entries USING btree (user_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX measuring_points_of_location ON public.measuring_points USING btree (location_id);
CREATE INDEX notices_by_time ON public.notices USING btree (created_at, id);
CREATE UNIQUE INDEX notices_by_token ON public.notices USING btree (ack_hash) WHERE (ack_hash IS NOT NULL);
CREATE INDEX notices_due ON public.notices USING btree (channel_id, due_at) WHERE (status = 'PENDING'::text);
CREATE INDEX notices_of_group ON public.notices USING btree (group_id, created_at) WHERE (group_id IS NOT NULL);
CREATE INDEX notices_of_recipient ON public.notices USING btree (channel_id, recipient, created_at);
CREATE UNIQUE INDEX notices_once ON public.notices USING btree (group_id, step, kind, announced_for, channel_id, recipient) WHERE (group_id IS NOT NULL);
CREATE UNIQUE INDEX notices_once_per_step ON public.notices USING btree (group_id, step, channel_id, recipient) WHERE (kind = ANY (ARRAY['FIRST'::text, 'ESCALATED'::text]));
CREATE INDEX oidc_logins_expiry ON public.oidc_logins USING btree (expires_at);
CREATE INDEX report_dispatches_by_schedule ON public.report_dispatches USING btree (schedule_id);
CREATE INDEX report_dispatches_due ON public.report_dispatches USING btree (kind, due_at) WHERE (status = 'PENDING'::text);
CREATE INDEX report_schedules_due ON public.report_schedules USING btree (next_run_at) WHERE enabled;
CREATE INDEX reports_by_creation ON public.reports USING btree (created_at, id);
CREATE INDEX reports_unfinished ON public.reports USING btree (created_at, id) WHERE (status = ANY (ARRAY['QUEUED'::text, 'RUNNING'::text]));
CREATE INDEX retention_runs_by_start ON public.retention_runs USING btree (started_at, id);
CREATE UNIQUE INDEX retention_runs_under_way ON public.retention_runs USING btree ((true)) WHERE (status = 'RUNNING'::text);
CREATE INDEX revoked_tokens_expiry ON public.revoked_tokens USING btree (expires_at);
CREATE UNIQUE INDEX saved_views_by_name ON public.saved_views USING btree (created_by, page, lower(name));
CREATE UNIQUE INDEX saved_views_default ON public.saved_views USING btree (page) WHERE is_default;
CREATE INDEX saved_views_of_owner ON public.saved_views USING btree (owner_id) WHERE (owner_id IS NOT NULL);
CREATE INDEX saved_views_shared ON public.saved_views USING btree (page) WHERE (owner_id IS NULL);
CREATE INDEX seals_by_kind ON public.seals USING btree (kind, last_at, seq);
CREATE INDEX seals_by_time ON public.seals USING btree (made_at);
CREATE INDEX sensor_places_entered ON public.sensor_places USING btree (sensor_id) WHERE (entered_at IS NOT NULL);
CREATE INDEX sensor_status_history_by_time ON public.sensor_status_history USING btree (at);
CREATE INDEX sensor_status_history_of_sensor ON public.sensor_status_history USING btree (sensor_id, id DESC);
CREATE INDEX sensors_by_creation ON public.sensors USING btree (created_at, id);
CREATE INDEX sensors_by_location ON public.sensors USING btree (location_id);
CREATE UNIQUE INDEX sensors_by_previous_key ON public.sensors USING btree (previous_key) WHERE (previous_key IS NOT NULL);
CREATE INDEX sensors_online ON public.sensors USING btree (id) WHERE (status = 'ONLINE'::text);
CREATE INDEX sessions_expiry ON public.sessions USING btree (expires_at);
CREATE INDEX sessions_of_user ON public.sessions USING btree (user_id, last_seen_at DESC);
CREATE INDEX shifts_by_end ON public.shifts USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX shifts_by_start ON public.shifts USING btree (started_at, id);
CREATE UNIQUE INDEX shifts_open ON public.shifts USING btree (gantry_fold(desk)) WHERE (ended_at IS NULL);
CREATE INDEX silences_by_end ON public.silences USING btree (ends_at);
CREATE UNIQUE INDEX situation_reports_by_report ON public.situation_reports USING btree (report_id);
CREATE INDEX studies_by_creation ON public.studies USING btree (created_at, id);
CREATE INDEX traffic_bins_of_location ON public.traffic_bins USING btree (minutes, location_id, slot) WHERE (location_id IS NOT NULL);
CREATE INDEX traffic_flags_of_sensor ON public.traffic_flags USING btree (sensor_id, found_at);
CREATE INDEX traffic_periods_across_hours ON public.traffic_periods USING btree (sensor_id, start) WHERE ((seconds <= 3600) AND (((start - date_bin('01:00:00'::interval, start, '2000-01-01 00:00:00+00'::timestamp with time zone)) + make_interval(secs => (seconds)::double precision)) > '01:00:00'::interval));
CREATE INDEX traffic_periods_across_quarters ON public.traffic_periods USING btree (sensor_id, start) WHERE ((seconds <= 3600) AND (((start - date_bin('00:15:00'::interval, start, '2000-01-01 00:00:00+00'::timestamp with time zone)) + make_interval(secs => (seconds)::double precision)) > '00:15:00'::interval));
CREATE INDEX traffic_periods_by_start ON public.traffic_periods USING btree (sensor_id, start);
CREATE INDEX traffic_places_of_sensor ON public.traffic_places USING btree (sensor_id);
CREATE INDEX traffic_reviews_of_place ON public.traffic_reviews USING btree (place_id, id);
CREATE INDEX traffic_unjudged_by_day ON public.traffic_unjudged USING btree (day);
CREATE INDEX hits_by_creation ON public.watchlist_alerts USING btree (created_at, id) WHERE (hotlist_id IS NOT NULL);
CREATE INDEX hits_new ON public.watchlist_alerts USING btree (priority DESC, created_at, id) WHERE (state = 'NEW'::text);
CREATE INDEX hits_of_list ON public.watchlist_alerts USING btree (hotlist_id, created_at, id) WHERE (hotlist_id IS NOT NULL);
CREATE INDEX watchlist_alerts_by_creation ON public.watchlist_alerts USING btree (created_at, id);
CREATE INDEX watchlist_alerts_by_urgency ON public.watchlist_alerts USING btree (priority DESC, created_at, id) WHERE (acknowledged_at IS NULL);
CREATE INDEX watchlist_alerts_of_vehicle ON public.watchlist_alerts USING btree (entry_id, sensor_id, vehicle_key, last_read_at) WHERE (vehicle_key IS NOT NULL);
CREATE INDEX watchlist_alerts_open ON public.watchlist_alerts USING btree (created_at, id) WHERE (acknowledged_at IS NULL);
CREATE INDEX watchlist_entries_by_creation ON public.watchlist_entries USING btree (created_at, id);
CREATE INDEX webhook_deliveries_by_time ON public.webhook_deliveries USING btree (created_at, id);
CREATE INDEX webhook_deliveries_dead ON public.webhook_deliveries USING btree (webhook_id, created_at, id) WHERE (status = 'DEAD'::text);
CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (webhook_id, due_at) WHERE (status = 'PENDING'::text);
CREATE INDEX webhook_deliveries_of_hook ON public.webhook_deliveries USING btree (webhook_id, created_at, id);
CREATE INDEX works_by_start ON public.works USING btree (starts_at, id);
CREATE INDEX works_due ON public.works USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX works_not_over ON public.works USING btree (ends_at) WHERE (state = ANY (ARRAY['DRAFT'::text, 'APPROVED'::text, 'ACTIVE'::text]));
CREATE INDEX works_of_location ON public.works USING btree (location_id) WHERE (location_id IS NOT NULL);
CREATE INDEX works_sensors_by_sensor ON public.works_sensors USING btree (sensor_id);
CREATE UNIQUE INDEX works_windows_active ON public.works_windows USING btree (works_id) WHERE (state = 'ACTIVE'::text);
CREATE INDEX works_windows_by_incident ON public.works_windows USING btree (incident_id) WHERE (incident_id IS NOT NULL);
CREATE INDEX works_windows_by_start ON public.works_windows USING btree (starts_at);
CREATE INDEX works_windows_of_works ON public.works_windows USING btree (works_id, id);
