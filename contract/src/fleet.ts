import { z } from 'zod';
import { fileInput, ONE_FILE, oneFile } from './file-input.ts';
import { id } from './id.ts';
import { MAX_TAGS, sensorStatus, updateSensorInput } from './sensors.ts';

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
        changes: z.array(z.object({ field: z.string(), from: cell, to: cell })),
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
export const MAX_CHANGED_AT_ONCE = 500;

const tagList = updateSensorInput.shape.tags.unwrap();

export const updateManyInput = z
  .object({
    ids: z
      .array(id)
      .min(1, 'Name at least one sensor')
      .max(MAX_CHANGED_AT_ONCE, `Change at most ${MAX_CHANGED_AT_ONCE} sensors at once`),
    status: sensorStatus.optional(),
    locationId: updateSensorInput.shape.locationId,
    eventsPerMin: updateSensorInput.shape.eventsPerMin,
    requiresHeartbeats: updateSensorInput.shape.requiresHeartbeats,
    direction: updateSensorInput.shape.direction,
    model: updateSensorInput.shape.model,
    addTags: tagList.optional().describe(`Tags to add; a sensor has at most ${MAX_TAGS}.`),
    removeTags: tagList.optional().describe('Tags to remove, ignoring case.'),
  })
  .refine(({ ids: _, ...changes }) => Object.values(changes).some((value) => value !== undefined), {
    message: 'Name what to change',
  });
export type UpdateManyInput = z.infer<typeof updateManyInput>;

export const updateManyOutput = z.object({
  changed: z.number().describe('Number of sensors that were changed.'),
  same: z.number().describe('Number of sensors that were like that before.'),
});
