import { z } from 'zod';

/**
 * What users from whom plates are hidden see in place of a field that may show a plate:
 *
 * - `plate`: `•••`. All other strings of the answer lose the plate, too.
 * - `empty`: null, or an empty array.
 * - `deviceText`: texts of a device in an event, which are left out if they may name a plate that was not found.
 * - `incidentText`: null if an event opened the incident, because it is a text of the device.
 * - `incidentTimeline`: the same for former and new descriptions in the timeline of the incident.
 * - `issues`: the reason of a status, without issues of the sensor that contain a digit.
 * - `mappedValues`: the reason of a refusal, without the values that a mapping read in the message.
 * - `delivery`: `•••`. It is the body of a delivery, which may be about a plate.
 * - `digits`: `•••` if it contains a digit, as nearly every plate does.
 * - `pageFilters`: the query string of a page of the console, without filters by plate.
 */
export type PlateRule =
  | 'plate'
  | 'empty'
  | 'deviceText'
  | 'incidentText'
  | 'incidentTimeline'
  | 'issues'
  | 'mappedValues'
  | 'delivery'
  | 'digits'
  | 'pageFilters';

const fields = z.registry<{ readonly rule: PlateRule }>();

/** Marks a field of an answer that may show a plate. */
export function showsPlate<Schema extends z.ZodType>(rule: PlateRule, schema: Schema): Schema {
  fields.add(schema, { rule });
  return schema;
}

/** How a field that may show a plate is hidden; undefined for any other field. */
export function plateRuleOf(schema: z.ZodType): PlateRule | undefined {
  return fields.get(schema)?.rule;
}

const events = z.registry<{ readonly isEvent: true }>();

/** Marks the field that identifies the event whose plate an object shows. */
export function identifiesEvent<Schema extends z.ZodType>(schema: Schema): Schema {
  events.add(schema, { isEvent: true });
  return schema;
}

/** Whether a field identifies the event whose plate its object shows. */
export function isEventIdentity(schema: z.ZodType): boolean {
  return events.get(schema) !== undefined;
}
