// Where the database can say something about a plate: every column of text or JSON of every table. A test compares this list
// with the schema, so that a new column is not forgotten.

/** What an erasure does with a row that names the plate. */
export type PlaceAction =
  /** The plate is masked in the columns `texts`. */
  | 'mask'
  /** The row is removed. */
  | 'delete'
  /** The row is an entry of a list of wanted plates, which is removed only if the caller asks for that. */
  | 'list';

export interface Place {
  readonly action: PlaceAction;
  /** Columns that are searched and erased. */
  readonly texts: readonly string[];
  /** Columns that are searched and shown, but not changed: names and settings, by which people and programs find things. */
  readonly named: readonly string[];
  /** Columns with words of Gantry, identifiers, hashes and figures, which are not searched. */
  readonly none: readonly string[];
  /** Columns that identify a row of a table without a primary key, in the order of an index. */
  readonly key?: readonly string[];
  /** The column with the id, or the ids, of the events about which the row is. */
  readonly events?: string;
}

const words = (list: string): string[] => list.split(' ').filter((word) => word !== '');

type Columns = readonly [texts: string, named?: string, none?: string];

const place = ([texts, named = '', none = '']: Columns, more: Partial<Place> = {}): Place => ({
  action: 'mask',
  texts: words(texts),
  named: words(named),
  none: words(none),
  ...more,
});

const none = (columns: string): Place => place(['', '', columns]);

/** The tables with columns of text or JSON, but for `events`. */
export const PLACES: Readonly<Record<string, Place>> = {
  activity: place(['details', '', 'action ip_address user_agent gathered']),
  activity_forwarding: none('after_xid'),
  agencies: place(['', 'name phone email areas', 'kind']),
  alarm_groups: place(['', 'group_key', 'told_firing told_cleared']),
  alarm_rules: place(['', 'name condition scope clear hours runbook', 'source no_data group_by']),
  alarms: place([
    'machine text place plate note',
    'rule_name key',
    'source state cleared_because inhibited_by',
  ]),
  api_tokens: place(['', 'name', 'role prefix token_hash']),
  // What was judged is never changed.
  audit_judgements: place(['', 'note', 'verdict']),
  audit_samples: none('seed'),
  backups: place(['error', '', 'status origin folder name recipients']),
  calendar_days: place(['', 'name', 'kind']),
  // Evidence and its log are never changed: they go with the case, by the retention of closed cases.
  case_exports: place(['', 'error', 'case_number status file_key']),
  case_items: place(['', 'text', 'role']),
  case_log: place(['', 'details', 'action']),
  case_rules: none('open_for open_on second_person'),
  cases: place([
    '',
    'title plate plate_key code_text sensor_name location_name checks lines speed_sentence',
    'number kind state event_type violation_type plate_region code',
  ]),
  certificates: place(['', 'number issuer file_name note withdraw_reason sensor_name', 'kind tolerance']),
  changes: place(['body', '', 'topic']),
  channels: place(['last_error', 'name settings', 'kind secret plates language']),
  connections: place(['', 'username options', 'format time_zone signing_key']),
  contacts: place(['', 'address', 'kind language quiet code_hash']),
  detector_assignments: place(['', 'channel lane', 'movement role counted_types speed_unit']),
  device_discoveries: place(['', 'device']),
  device_messages: place(['reason path topic parts flaws headers', '', 'status method content_type'], {
    action: 'delete',
    events: 'event_ids',
  }),
  device_passages: place(['passage report joined_to reason', '', 'images'], {
    action: 'delete',
    events: 'event_id',
  }),
  digest_nonces: none('nonce'),
  erased_records: none('kind record_id'),
  erasures: place(['reason', '', 'requested_by counts']),
  event_images: none('event_type'),
  event_period_totals: none('period event_type violation_type vehicle_type'),
  event_reviews: place(['reason before after', '', 'decision']),
  event_totals: none('event_type violation_type vehicle_type'),
  external_identities: place(['', 'subject', 'issuer']),
  failed_logins: none('key'),
  fault_changes: place(['reason', '', 'state']),
  faults: place(['text ticket reason', 'sensor_name code', 'state idempotency_key']),
  former_timezones: none('timezone'),
  former_users: place(['', 'first_name last_name']),
  held_events: none('event_type'),
  hit_decisions: place(['note', '', 'action code outcome']),
  hotlist_entries: place(
    ['plate plate_key reason reference approved_by extra', '', 'confusable_key region'],
    { action: 'list' },
  ),
  hotlist_imports: place([
    'sample others error override',
    'file_name template',
    'mode origin sha256 state signature',
  ]),
  hotlist_look_backs: place(['error', '', 'kind state']),
  // The spellings near a listed plate, which go with its entry.
  hotlist_near: none('near'),
  hotlist_staged: place(['plate plate_key reason reference approved_by extra', '', 'confusable_key region'], {
    action: 'list',
    key: ['import_id', 'id', 'line'],
  }),
  hotlists: place(['', 'name purpose template source source_state', 'visible_to verification tolerance']),
  image_segments: none('name'),
  images: none('media_type'),
  incident_agencies: place(['', 'name unit', 'kind']),
  incident_steps: place(['reason', '', 'key state']),
  incident_timeline: place(['note details', '', 'action from_status to_status audience']),
  incident_work: none('times_set injured'),
  incidents: place(['title description location source_key', '', 'type status reported_type']),
  lane_states: none('direction lanes shoulder'),
  legal_holds: place(['reason']),
  locations: place(['', 'name address description road coordinates', 'speed_units direction']),
  log_entries: place(['text source refs', 'desk', 'kind idempotency_key']),
  measuring_points: place(['', 'name', 'direction facility road_class setting']),
  notices: place([
    'subject body last_error last_answer',
    'channel_name recipient policy_name',
    'kind severity language status ack_hash acknowledged_from',
  ]),
  oidc_logins: none('key_hash code_verifier nonce challenge'),
  password_resets: none('token_hash'),
  plan_versions: place(['', 'name steps']),
  plans: place(['', 'name steps roads', 'incident_types']),
  // A position among the keys of all plates, while an upgrade renews them.
  plate_keys: none('position'),
  policies: place(['', 'name steps']),
  recovery_codes: none('code_hash'),
  report_dispatches: place(['last_error', 'recipient', 'kind status']),
  report_schedules: place(['', 'filters send_to', 'kind format every timezone csv']),
  reports: place(['filters error', '', 'kind format status settings file_key csv'], { action: 'delete' }),
  retention_removals: none('class event_type'),
  retention_runs: place(['error', '', 'status']),
  retention_settings: none('events_by_type events_without_hit'),
  rotas: place(['', 'name layers overrides', 'timezone']),
  saved_views: place(['name search', '', 'page'], { action: 'delete' }),
  seal_check: none('faults'),
  seal_keys: none('id replaces'),
  seal_progress: none('kind'),
  seals: none('kind key_id'),
  second_factors: none('secret'),
  sensor_clocks: place(['hint', '', 'state']),
  sensor_places: none('sensor_type'),
  sensor_status_history: place(['reason', '', 'from_status to_status']),
  sensors: place([
    '',
    'name device_id description model serial_number tags make certificate_place lane firmware',
    'type status api_key previous_key ip_address mac_address coordinates direction last_event_type',
  ]),
  sessions: none('ip_address user_agent'),
  settings: none('timezone date_format'),
  shifts: place(['remarks summary close_reason', 'desk']),
  silences: place(['reason matchers']),
  situation_reports: place(['subject message', 'recipients', 'kind audience sha256']),
  studies: place([
    'title notes reason',
    'place_name author_name frozen_by_name reviewer_name',
    'kind status subject settings program_version hash data figures',
  ]),
  traffic_cells: none('vehicle_type direction lane vehicle_class movement event_type'),
  traffic_flags: none('rule lane'),
  traffic_period_revisions: none('direction lane movement content'),
  traffic_periods: none('direction lane movement content'),
  traffic_reviews: place(['reason', '', 'place_kind decision']),
  traffic_rollups: none('vehicle_type types'),
  // A few seconds of passages that wait to be counted.
  traffic_unfolded: none('event_types vehicle_types directions lanes classes movements passage_ids'),
  traffic_years: none('place_kind timezone'),
  users: place(['', 'email first_name last_name phone department', 'password_hash role avatar']),
  watchlist_alerts: place([
    'pattern reason plate note vehicle_key listed decision_note',
    'sensor_name location_name',
    'kind plate_region state code outcome',
  ]),
  watchlist_entries: place(['pattern reason'], { action: 'list' }),
  webhook_deliveries: place(['body last_answer last_error', '', 'kind status']),
  webhooks: place(['', 'url description filter', 'secret kinds']),
  works: place([
    'title description contact cancel_reason',
    'road',
    'kind state direction geometry lanes timezone recurrence',
  ]),
  works_sensors: none('status_before'),
  works_windows: none('state'),
};

/** The columns of events. An event with the plate is found by its key and cleared; texts of others that name it are masked. */
export const EVENTS: Place = place([
  'description metadata tags passage_id',
  'sensor_name location_name location',
  'event_type violation_type vehicle_type plate plate_key images location_key direction lane vehicle_class movement plate_region',
]);
