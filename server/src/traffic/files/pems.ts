import { MAX_FILE_PERIODS } from '@gantry/contract/count-files';
import { type LineError, readTable } from '../../platform/sheet.ts';
import { KMH_PER_MPH } from '../speed-sample.ts';
import { createStarts, dateOrderOf, type RowTime, timeOf, usualDistance } from './date-times.ts';
import { type FileOfCounts, type FileOptions, type FilePeriod, tooLong } from './file-of-counts.ts';

interface PemsLine {
  readonly line: number;
  /** Of each lane: vehicles, speed in mph, occupancy from 0 to 1. Empty cells are not known. */
  readonly lanes: readonly (readonly string[])[];
  readonly date: string;
}

/**
 * Reads lines of the Performance Measurement System of California: the station, the number of lanes, for each lane the vehicles
 * in the interval, their mean speed in mph and the occupancy from 0 to 1, and the time. Its dates have the month first.
 * @throws AppError `badRequest` if the length of the intervals is not known
 */
export async function readPems(text: string, options: FileOptions): Promise<FileOfCounts> {
  const errors: LineError[] = [];
  const lines: PemsLine[] = [];
  let rowCount = 0;
  for await (const { line, cells } of readTable(text, ',')) {
    rowCount++;
    if (rowCount > MAX_FILE_PERIODS) throw tooLong();
    if (options.station !== undefined && cells[0] !== options.station) continue;
    const count = Number(cells[1]);
    const date = cells[2 + 3 * count];
    if (!/^\d{1,2}$/.test(cells[1] ?? '') || date === undefined || cells.length > 3 + 3 * count) {
      errors.push({
        line,
        message:
          'This is no line of PeMS: station, number of lanes, vehicles, mph and occupancy of each lane, time',
      });
      continue;
    }
    const lanes = Array.from({ length: count }, (_, n) => cells.slice(2 + 3 * n, 5 + 3 * n));
    lines.push({ line, lanes, date });
  }
  const { binLabel = 'START', zone } = options;
  const written = lines.map(({ date }) => ({ date, time: null, until: null }));
  const order =
    options.dateOrder ?? (written.some(({ date }) => /^\d{4}/.test(date)) ? dateOrderOf(written) : 'MDY');
  const times = written.map((each) => timeOf(each, order));
  const read = times.filter((time): time is RowTime => typeof time !== 'string');
  const seconds = read.length === 0 ? null : (options.seconds ?? usualDistance([read]));
  const startOf = createStarts({ zone, binLabel, seconds: seconds ?? 0 });
  const periods = lines.flatMap(({ line, lanes }, n): FilePeriod[] => {
    const time = times[n] ?? '';
    const start = typeof time === 'string' ? time : startOf(time, '');
    if (typeof start === 'string') {
      errors.push({ line, message: start });
      return [];
    }
    return lanes.map((cells, at) => ({
      line,
      start,
      part: { ...(options.direction !== undefined && { direction: options.direction }), lane: at + 1 },
      content: contentOf(cells),
    }));
  });
  if (periods.length > MAX_FILE_PERIODS) throw tooLong();
  return { periods, errors, rowCount, columns: [], binLabel, seconds };
}

function contentOf(cells: readonly string[]): Record<string, unknown> {
  const [volume, mph, occupancy] = cells.map((cell) => (cell === '' ? null : Number(cell)));
  return {
    volume: volume ?? null,
    ...(volume &&
      typeof mph === 'number' && { speed: { mean: Math.round(mph * KMH_PER_MPH * 1_000) / 1_000 } }),
    ...(typeof occupancy === 'number' && { occupancy: Math.round(occupancy * 1e6) / 1e4 }),
  };
}
