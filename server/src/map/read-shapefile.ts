import { readFile, stat } from 'node:fs/promises';
import { open } from 'shapefile';
import { projectionOfText } from './projection.ts';
import { type FeatureReceiver, type OnProgress, type ReadFile, RoadsRefused } from './road-file.ts';
import { startOf, type UnpackedFiles } from './unpack.ts';

/** The places of the number of records, of the length of the header and of that of a record in a .dbf file. */
const [RECORDS_AT, HEADER_AT, LENGTH_AT] = [4, 8, 10];

/**
 * Reads a shapefile, record by record.
 * @throws RoadsRefused when a part is missing or damaged, or it is in another projection
 */
export async function readShapefile(
  { shp, dbf, prj, cpg }: UnpackedFiles,
  receive: FeatureReceiver,
  onProgress: OnProgress,
): Promise<ReadFile> {
  if (shp === undefined || dbf === undefined)
    throw new RoadsRefused(
      'A shapefile consists of .shp, .dbf and .prj: send them together, in one ZIP archive',
    );
  if (prj === undefined)
    throw new RoadsRefused(
      'The shapefile has no .prj, so its projection is not known: add it, or convert with: ogr2ogr -s_srs <EPSG code> -t_srs EPSG:4326 roads.geojson <file>',
    );
  const projection = projectionOfText((await readFile(prj, 'utf8')).slice(0, 10_000));
  const encoding = encodingOf(cpg === undefined ? '' : (await readFile(cpg, 'latin1')).slice(0, 60));
  const header = await startOf(dbf);
  const isTable = header.length >= LENGTH_AT + 2;
  const records = isTable ? header.readUInt32LE(RECORDS_AT) : 0;
  const bytes = isTable ? header.readUInt16LE(HEADER_AT) + records * header.readUInt16LE(LENGTH_AT) : 1;
  let done = 0;
  try {
    const source = await open(shp, dbf, { encoding });
    for (let next = await source.read(); !next.done; next = await source.read()) {
      receive(next.value);
      onProgress(Math.min(1, ++done / Math.max(records, 1)));
    }
  } catch (error) {
    if (error instanceof RoadsRefused) throw error;
    throw new RoadsRefused(
      `The shapefile is damaged at record ${done + 1} (${(error as Error).message.slice(0, 120)}): export it again`,
    );
  }
  // The reader skips damaged records, and what is missing at the end of a table is empty.
  if (done !== records || (await stat(dbf)).size < bytes)
    throw new RoadsRefused(
      `The shapefile is damaged: ${done} lines were found for ${records} records of the .dbf, or the .dbf is not complete. Export it again`,
    );
  return { format: 'SHAPEFILE', projection };
}

/** The encoding that a .cpg file names, such as `UTF-8` or `ANSI 1254`; windows-1252 without one, as is usual. */
function encodingOf(text: string): string {
  const page = /(125\d)\s*$/.exec(text.trim())?.[1];
  const label = page === undefined ? text.trim() : `windows-${page}`;
  try {
    return new TextDecoder(label || 'windows-1252').encoding;
  } catch {
    return 'utf-8';
  }
}
