/** JSON Schema, as far as the documents use it. */
export type JsonSchema = Record<string, unknown>;

/** What the numbers of the API measure or count, by the name of the field, where its schema does not say it. */
const MEANINGS: Readonly<Record<string, string>> = {
  total: 'Number of items on all pages together.',
  pageCount: 'Number of pages.',
  vehicleSpeed: 'km/h.',
  speedLimit: 'km/h.',
  latitude: 'Degrees (WGS 84), north is positive.',
  longitude: 'Degrees (WGS 84), east is positive.',
  count: 'Number of items.',
  eventsPerMin: 'The number of events per minute that is expected of the sensor.',
  lanesBlocked: 'Number of lanes.',
  limit: 'Maximum number of items to return.',
  firstDayOfWeek: '0 = Sunday … 6 = Saturday.',
  value: 'The number in the period itself.',
  code: 'The number of the error.',
  httpStatus: 'The HTTP status.',
  bytes: 'Size in bytes.',
  messages: 'Number of messages.',
  replayed: 'Number of messages that are processed again.',
  processed: 'Number of events marked as processed.',
  unprocessed: 'Number of events not marked as processed.',
  archived: 'Number of archived events.',
  sensorCount: 'Number of sensors.',
  volume: 'Number of vehicles.',
  from: 'Lower bound in km/h, exclusive; stationary vehicles are in the first bin.',
  to: 'Upper bound in km/h, inclusive.',
  totalActivities: 'Number of entries on all pages together.',
  eventCount: 'Number of events.',
  events: 'Number of events.',
  images: 'Number of images.',
  reports: 'Number of reports.',
  activity: 'Number of entries of the activity log.',
  rows: 'Number of items.',
};

/** Adds a description to every numeric field that has none and is known by its name. */
export function describeNumbers<Value>(value: Value): Value {
  if (Array.isArray(value)) for (const each of value) describeNumbers(each);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { properties } = value as JsonSchema;
  if (typeof properties === 'object' && properties !== null) {
    for (const [name, field] of Object.entries(properties as Record<string, JsonSchema>)) {
      if (isNumeric(field) && field.description === undefined && Object.hasOwn(MEANINGS, name)) {
        field.description = MEANINGS[name];
      }
    }
  }
  for (const member of Object.values(value)) describeNumbers(member);
  return value;
}

/** Whether a schema admits numbers. */
export function isNumeric(schema: JsonSchema): boolean {
  const { type, anyOf } = schema;
  if (Array.isArray(anyOf)) return (anyOf as JsonSchema[]).some(isNumeric);
  return schema.enum === undefined && (type === 'number' || type === 'integer');
}
