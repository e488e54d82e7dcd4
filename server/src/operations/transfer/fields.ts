/** The fields of an exported event, in the order of the columns of a CSV file. Those that the import ignores are last. */
export const fields = [
  'id',
  'timestamp',
  'deviceId',
  'eventType',
  'severity',
  'licensePlateNumber',
  'vehicleType',
  'vehicleSpeed',
  'violationType',
  'description',
  'location',
  'metadata',
  'images',
  'tags',
  'sensorName',
  'sensorType',
  'locationName',
  'processed',
  'archived',
  'createdAt',
] as const;
export type FieldName = (typeof fields)[number];

/** An exported event; null for what is unknown. */
export type ExportedEvent = Readonly<Record<FieldName, unknown>>;

/** The formats of files. */
export const transferFormats = ['jsonl', 'csv'] as const;
export type TransferFormat = (typeof transferFormats)[number];
