import { z } from 'zod';
import { roadClasses, roadsFormats, roadsLeftOutReasons } from './map-values.ts';
import { person } from './person.ts';

const degrees = z.number().describe('Degrees (WGS 84).');

export const roadsReport = z.object({
  format: z.enum(roadsFormats),
  projection: z
    .string()
    .describe(
      'The projection of the file, such as `WGS 84`. Files in any other than those of degrees are refused.',
    ),
  features: z.number().describe('Number of features in the file.'),
  kept: z.number().describe('Number of features that are roads on the map.'),
  points: z.number().describe('Number of points of these roads, before they are simplified.'),
  named: z.number().describe('Number of roads with a name.'),
  nameField: z.string().nullable().describe('The property that names roads; null if no known one exists.'),
  classField: z
    .string()
    .nullable()
    .describe('The property that says what kind of road it is; null if no known one exists.'),
  classes: z.array(
    z.object({ roadClass: z.enum(roadClasses), count: z.number().describe('Number of features.') }),
  ),
  leftOut: z.array(
    z.object({
      reason: z.enum(roadsLeftOutReasons),
      count: z.number().describe('Number of features.'),
      first: z.array(z.number()).describe('The numbers of the first of these features in the file, from 1.'),
    }),
  ),
  bounds: z
    .object({ west: degrees, south: degrees, east: degrees, north: degrees })
    .describe('Degrees (WGS 84).'),
  tiles: z.number().describe('Number of tiles of all zoom levels.'),
  thinnedTiles: z
    .number()
    .describe('Number of tiles in which the least important roads are left out, because there are too many.'),
  bytes: z.number().describe('Size of the tiles, in bytes.'),
});
export type RoadsReport = z.infer<typeof roadsReport>;

export const stagedRoadsState = z.enum(['READING', 'READY', 'REFUSED']);

const roadsFile = z.object({
  id: z.string(),
  fileName: z.string().nullable(),
  attribution: z.string().nullable().describe('Whose data it is, as the map shows it.'),
  at: z.date().describe('When the file was received.'),
});

export const stagedRoads = roadsFile.extend({
  by: person.describe('Who sent it.'),
  state: stagedRoadsState.describe('READY: `map.applyFile` puts it on the map. REFUSED: see `problem`.'),
  progress: z.number().describe('From 0 to 1, estimated.'),
  problem: z.string().nullable().describe('Why the file cannot be used, and what would be right.'),
  report: roadsReport.nullable().describe('null unless READY.'),
});
export type StagedRoads = z.infer<typeof stagedRoads>;

export const currentRoads = roadsFile.extend({ report: roadsReport });
export type CurrentRoads = z.infer<typeof currentRoads>;

export const mapState = z.object({
  current: currentRoads.nullable().describe('The roads on the map; null: none.'),
  staged: stagedRoads.nullable().describe('The file that was received last and is not applied; null: none.'),
  hasBaseMap: z
    .boolean()
    .describe('Whether `MAP_PMTILES` is set. The console then draws that map instead of these roads.'),
});
export type MapState = z.infer<typeof mapState>;
