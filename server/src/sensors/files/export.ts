import { markOf, USUAL_CSV } from '@gantry/contract/csv-text';
import type { ExportedFleet, ExportFleetInput } from '@gantry/contract/fleet';
import { csvLines } from '../../platform/csv.ts';
import type { Database } from '../../platform/database/pool.ts';
import { writeWorkbook, XLSX_TYPE } from '../../platform/workbook.ts';
import { type Field, locationFields, sensorFields, textOf } from './fields.ts';
import { listLocationItems, listSensorItems } from './store.ts';

/** All sensors as a file that `sensors.import` reads. */
export async function exportSensors(db: Database, { format }: ExportFleetInput): Promise<ExportedFleet> {
  return fileOf('sensors', sensorFields, await listSensorItems(db), format);
}

/** All locations as a file that `locations.import` reads. */
export async function exportLocations(db: Database, { format }: ExportFleetInput): Promise<ExportedFleet> {
  return fileOf('locations', locationFields, await listLocationItems(db), format);
}

function fileOf<Item>(
  name: string,
  fields: readonly Field<Item>[],
  items: readonly Item[],
  format: ExportFleetInput['format'],
): ExportedFleet {
  const rows = [
    fields.map((field) => field.name),
    ...items.map((item) =>
      fields.map(({ of }) => {
        const value = of(item);
        return typeof value === 'number' ? value : textOf(value);
      }),
    ),
  ];
  const isWorkbook = format === 'XLSX';
  const bytes = isWorkbook ? writeWorkbook(name, rows) : Buffer.from(markOf(USUAL_CSV) + csvLines(rows));
  return {
    fileName: `${name}.${format.toLowerCase()}`,
    mediaType: isWorkbook ? XLSX_TYPE : 'text/csv; charset=utf-8',
    base64: Buffer.from(bytes).toString('base64'),
    rowCount: items.length,
  };
}
