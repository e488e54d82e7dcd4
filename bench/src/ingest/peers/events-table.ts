import { randomFillSync } from 'node:crypto';
import { doublePrecision, jsonb, pgTable, smallint, text, uuid } from 'drizzle-orm/pg-core';

/** The columns of Gantry's events that an insert fills. */
export const events = pgTable('events', {
  id: uuid('id').primaryKey(),
  eventType: text('event_type').notNull(),
  violationType: text('violation_type'),
  vehicleType: text('vehicle_type'),
  severity: smallint('severity'),
  sensorId: uuid('sensor_id'),
  sensorName: text('sensor_name'),
  locationId: uuid('location_id'),
  locationName: text('location_name'),
  plate: text('plate'),
  plateKey: text('plate_key'),
  vehicleSpeed: doublePrecision('vehicle_speed'),
  description: text('description'),
  location: jsonb('location'),
  metadata: jsonb('metadata'),
  images: jsonb('images'),
  tags: jsonb('tags'),
});

const random = Buffer.alloc(10);

/** An id like those in the table: version 7, which begins with the time. */
export function newId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  const rest = randomFillSync(random).toString('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-8${rest.slice(3, 6)}-${rest.slice(6, 18)}`;
}
