import { z } from 'zod';
import { fileInput, ONE_FILE, oneFile } from './file-input.ts';
import { id } from './id.ts';
import { isReasonOfStatus, MAX_TAGS, REASON_ALONE, sensor, statusReason, updateFields } from './sensors.ts';
import { timeInput } from './time.ts';

// Files with all sensors, or all locations, for installations of more than a handful.

/** Maximum number of rows of a file of sensors or locations. */
export const MAX_FLEET_ROWS = 5_000;
/** Maximum number of rows, and of errors, that an answer lists. */
export const MAX_LISTED_ROWS = 1_000;
export const fleetFileInput = z
  .object({
    ...fileInput(
      'The bytes of the file instead: XLSX, or CSV in UTF-8, UTF-16 with a byte order mark, or windows-1252.',
    ),
    dryRun: z.boolean().default(false).describe('Whether to say what would change, and change nothing.'),
    expected: z
      .string()
      .max(100)
      .optional()
      .describe(
        '`fingerprint` of a dry run: the file is applied only if it would still change the same (CONFLICT).',
      ),
  })
  .refine(oneFile, ONE_FILE);
export type FleetFileInput = z.infer<typeof fleetFileInput>;

const line = z.number().describe('Number of the line in the file, from 1.');
const cell = z.string().nullable();
const changes = z.array(z.object({ field: z.string(), from: cell, to: cell }));

/** What a file of sensors or locations changes. */
export const importedFleet = z.object({
  dryRun: z.boolean(),
  encoding: z.string().nullable().describe('Of `base64`: XLSX, UTF-8, UTF-16LE, UTF-16BE or windows-1252.'),
  columns: z.array(z.string()).describe('The fields that the columns are, in their order.'),
  rowCount: z.number().describe('Number of rows below the header.'),
  created: z.number().describe('Number of rows that are new.'),
  changed: z.number().describe('Number of rows that change something.'),
  same: z.number().describe('Number of rows that change nothing.'),
  errorCount: z.number().describe('Number of rows with an error. If there are any, nothing is applied.'),
  errors: z
    .array(z.object({ line, column: z.string().nullable(), message: z.string() }))
    .describe(`The first ${MAX_LISTED_ROWS}.`),
  rows: z
    .array(
      z.object({
        line,
        key: z.string().describe('The `deviceId` of a sensor, the name of a location.'),
        name: z.string(),
        result: z.enum(['NEW', 'CHANGED']),
        changes,
      }),
    )
    .describe(`The first ${MAX_LISTED_ROWS} rows that are new or change something.`),
  fingerprint: z.string().describe('Identifies what the file changes.'),
});
export type ImportedFleet = z.infer<typeof importedFleet>;

export const importedSensors = importedFleet.extend({
  keys: z
    .array(z.object({ id: z.string(), deviceId: z.string(), name: z.string(), apiKey: z.string() }))
    .describe('The new sensors with their API keys; empty in a dry run.'),
});
export type ImportedSensors = z.infer<typeof importedSensors>;

export const exportFleetInput = z.object({ format: z.enum(['CSV', 'XLSX']).default('CSV') }).prefault({});
export type ExportFleetInput = z.infer<typeof exportFleetInput>;

export const exportedFleet = z.object({
  fileName: z.string(),
  mediaType: z.string(),
  base64: z.string().describe('The bytes of the file.'),
  rowCount: z.number().describe('Number of rows below the header.'),
});
export type ExportedFleet = z.infer<typeof exportedFleet>;

/** Maximum number of sensors that one call changes. */
export const MAX_CHANGED_AT_ONCE = 5_000;

const MANY = `Change at most ${MAX_CHANGED_AT_ONCE} sensors at once`;
const tagList = updateFields.tags.unwrap();

/** The fields that many sensors can be given at once. */
const sharedFields = {
  status: updateFields.status,
  locationId: updateFields.locationId,
  eventsPerMin: updateFields.eventsPerMin,
  requiresHeartbeats: updateFields.requiresHeartbeats,
  direction: updateFields.direction,
  make: updateFields.make,
  model: updateFields.model,
  warrantyUntil: updateFields.warrantyUntil,
};

export const updateManyInput = z
  .object({
    ids: z.array(id).min(1, 'Name at least one sensor').max(MAX_CHANGED_AT_ONCE, MANY),
    ...sharedFields,
    reason: statusReason,
    addTags: tagList.optional().describe(`Tags to add; a sensor has at most ${MAX_TAGS}.`),
    removeTags: tagList.optional().describe('Tags to remove, ignoring case.'),
    dryRun: z.boolean().default(false).describe('Whether to say what would change, and change nothing.'),
  })
  .refine(
    ({ ids: _, reason: __, dryRun: ___, ...given }) =>
      Object.values(given).some((value) => value !== undefined),
    { message: 'Name what to change' },
  )
  .refine(isReasonOfStatus, REASON_ALONE);
export type UpdateManyInput = z.infer<typeof updateManyInput>;

/** A sensor as it was before a change of many. */
const formerSensor = sensor
  .pick({
    ...{ status: true, locationId: true, eventsPerMin: true, direction: true, make: true, model: true },
    ...{ warrantyUntil: true, tags: true },
  })
  .extend({ requiresHeartbeats: z.boolean() })
  .partial()
  .extend({
    id: z.string(),
    updatedAt: z
      .date()
      .describe('Of the sensor after the change: if it is another one later, something changed it since.'),
  });
export type FormerSensor = z.infer<typeof formerSensor>;

export const updateManyOutput = z.object({
  changed: z.number().describe('Number of sensors that were changed.'),
  same: z.number().describe('Number of sensors that were like that before.'),
  rows: z
    .array(z.object({ id: z.string(), name: z.string(), changes }))
    .describe(`What changes of which sensor, by name: the first ${MAX_LISTED_ROWS}.`),
  former: z
    .array(formerSensor)
    .describe('What those that were changed had before, for `sensors.restoreMany`; empty in a dry run.'),
});
export type UpdateManyOutput = z.infer<typeof updateManyOutput>;

export const restoreManyInput = z.object({
  sensors: z
    .array(z.object({ id, updatedAt: timeInput, ...sharedFields, tags: updateFields.tags }))
    .min(1, 'Name at least one sensor')
    .max(MAX_CHANGED_AT_ONCE, MANY)
    .describe('`former`, as `sensors.updateMany` returned it.'),
});
export type RestoreManyInput = z.infer<typeof restoreManyInput>;
export const restoreManyOutput = z.object({ restored: z.number().describe('Number of sensors.') });
