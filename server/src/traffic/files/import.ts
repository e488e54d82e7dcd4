import { type ImportCountsInput, type ImportedCounts, MAX_LISTED } from '@gantry/contract/count-files';
import { type CountPeriod, type IngestedPeriod, MAX_PERIODS, motorVehiclesOf } from '@gantry/contract/counts';
import { recordActivity } from '../../activity/store.ts';
import type { ActorContext, Core } from '../../platform/context.ts';
import { notFound } from '../../platform/error.ts';
import { decodeFile, type LineError } from '../../platform/sheet.ts';
import type { SensorServices } from '../../sensors/start.ts';
import { storePeriods } from '../periods.ts';
import { type Column, isValue } from './columns.ts';
import { readCsv } from './csv.ts';
import type { FileOfCounts, FilePeriod } from './file-of-counts.ts';
import { readPems } from './pems.ts';
import { readTmg } from './tmg.ts';

const READERS = { CSV: readCsv, PEMS: readPems, TMG: readTmg };

/** What became of a period, or would. */
type Result = FilePeriod & { readonly result: 'NEW' | 'REPLACED' | 'DUPLICATE' };

/**
 * Stores the counts of a file as if the sensor had sent them: what of it is right, each period or none of it. A file that is
 * imported again stores nothing twice.
 * @throws AppError `notFound`; `badRequest` if nothing of the file can be understood, or it is ambiguous
 */
export async function importCounts(
  { app, actor, caller }: ActorContext<Core & Pick<SensorServices, 'knownSensors'>>,
  { sensorId, text, base64, timeZone, dryRun, ...options }: ImportCountsInput,
): Promise<ImportedCounts> {
  const sensor = await app.knownSensors.find(sensorId);
  if (!sensor) throw notFound('Sensor');
  const zone = timeZone ?? app.settings.current().timezone;
  const file = decodeFile({ text, base64 });
  const read = await READERS[options.format](file.text, { ...options, zone });
  const { distinct, errors } = withoutOverlaps(read);
  const results: Result[] = [];
  for (let n = 0; n < distinct.length; n += MAX_PERIODS) {
    const batch = distinct.slice(n, n + MAX_PERIODS);
    const stored = await storePeriods(
      app,
      sensor,
      batch.map((period) => asSent(period, read.seconds)),
      dryRun,
    );
    for (const [at, period] of batch.entries()) {
      const result = resultOf(stored[at]);
      if (typeof result === 'string') results.push({ ...period, result });
      else errors.push({ line: period.line, message: result.message });
    }
  }
  const answer = describe(read, results, errors, dryRun);
  if (!dryRun) {
    const { stored, replaced, duplicates, errorCount, from, until } = answer;
    await recordActivity(app.db, actor.id, caller, 'counts.import', {
      ...{
        sensorId: sensor.id,
        name: sensor.name,
        format: options.format,
        stored,
        replaced,
        duplicates,
        errorCount,
      },
      ...(from && until && { from: from.toISOString(), until: until.toISOString() }),
    });
  }
  return { ...answer, encoding: file.encoding, timeZone: zone };
}

/** The periods of a file that overlap no earlier one of it of the same direction, lane and movement. */
function withoutOverlaps({ periods, errors, seconds }: FileOfCounts): {
  distinct: FilePeriod[];
  errors: LineError[];
} {
  const found = [...errors];
  const inOrder = periods.toSorted((a, b) => a.start - b.start || a.line - b.line);
  const lastOf = new Map<string, FilePeriod>();
  const distinct = inOrder.filter((period) => {
    const { direction, lane, movement } = period.part;
    const channel = JSON.stringify([direction, lane, movement]);
    const last = lastOf.get(channel);
    if (last && period.start < last.start + (seconds ?? 0) * 1_000) {
      const message = `The interval overlaps that of line ${last.line}, of the same direction, lane and movement`;
      found.push({ line: period.line, message });
      return false;
    }
    lastOf.set(channel, period);
    return true;
  });
  return { distinct, errors: found };
}

function asSent({ start, part, content }: FilePeriod, seconds: number | null): object {
  return { start: new Date(start).toISOString(), seconds, ...part, ...content };
}

function resultOf(ingested: IngestedPeriod | undefined): Result['result'] | { readonly message: string } {
  if (!ingested) throw new Error('A period has no result');
  if ('error' in ingested) return ingested.error;
  return ingested.duplicate ? 'DUPLICATE' : ingested.replaced ? 'REPLACED' : 'NEW';
}

function describe(
  { columns, rowCount, binLabel, seconds, periods }: FileOfCounts,
  results: readonly Result[],
  errors: readonly LineError[],
  dryRun: boolean,
): Omit<ImportedCounts, 'encoding' | 'timeZone'> {
  const countOf = (wanted: Result['result']): number =>
    results.filter(({ result }) => result === wanted).length;
  const [first, last] = [results[0], results.at(-1)];
  return {
    dryRun,
    binLabel,
    seconds,
    columns: columns.map(describeColumn),
    rowCount,
    periodCount: periods.length,
    stored: countOf('NEW'),
    replaced: countOf('REPLACED'),
    duplicates: countOf('DUPLICATE'),
    errorCount: errors.length,
    from: first ? new Date(first.start) : null,
    until: last ? new Date(last.start + (seconds ?? 0) * 1_000) : null,
    errors: errors.toSorted((a, b) => a.line - b.line).slice(0, MAX_LISTED),
    periods: dryRun ? results.slice(0, MAX_LISTED).map(describePeriod) : [],
  };
}

const USES = { count: 'COUNT', sum: 'SUM', speed: 'SPEED', occupancy: 'OCCUPANCY' } as const;

function describeColumn(column: Column): ImportedCounts['columns'][number] {
  const { name } = column;
  if (isValue(column)) return { name, use: USES[column.is], ...column.part };
  if (column.is === 'ignored') return { name, use: 'IGNORED' };
  return { name, use: ['date', 'time', 'start', 'end'].includes(column.is) ? 'TIME' : 'PART' };
}

function describePeriod({ line, start, part, content, result }: Result): ImportedCounts['periods'][number] {
  const { volume = null, byClass } = content as Partial<Pick<CountPeriod, 'volume' | 'byClass'>>;
  return {
    ...{ line, start: new Date(start), ...part },
    volume: byClass ? motorVehiclesOf(byClass) : volume,
    ...(byClass && { byClass: byClass.counts }),
    result,
  };
}
