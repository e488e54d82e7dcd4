// Values of the map that the console needs without the schemas.

/** Maximum size of a file with roads, in bytes. */
export const MAX_ROADS_FILE_BYTES = 500_000_000;
/** Maximum number of points in all roads together. */
export const MAX_ROAD_POINTS = 10_000_000;
/** Maximum length of the text that says whose data the map shows. */
export const MAX_ATTRIBUTION = 200;

/** The classes of roads on the map, the most important first. */
export const roadClasses = [
  'MOTORWAY',
  'TRUNK',
  'PRIMARY',
  'SECONDARY',
  'TERTIARY',
  'MINOR',
  'SERVICE',
  'PATH',
] as const;
export type RoadClass = (typeof roadClasses)[number];

export const roadsFormats = ['GEOJSON', 'SHAPEFILE', 'GEOPACKAGE'] as const;
export type RoadsFormat = (typeof roadsFormats)[number];

/** Why a feature of the file is not on the map. */
export const roadsLeftOutReasons = [
  'NO_GEOMETRY',
  'POINT',
  'AREA',
  'BROKEN_LINE',
  'BROKEN_RING',
  'OUTSIDE',
  'NOT_A_ROAD',
] as const;
export type RoadsLeftOutReason = (typeof roadsLeftOutReasons)[number];
