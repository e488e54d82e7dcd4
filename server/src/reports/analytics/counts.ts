import type { Analytics, Compared } from '@gantry/contract/analytics';
import { severity } from '@gantry/contract/events';
import type { RemovedEvents } from '../../events/remove-store.ts';
import { isViolation, rankOf, severityOfRank } from '../../events/severity.ts';
import { sumsBySpelling } from '../../platform/case-fold.ts';
import type { CountRow } from './store.ts';

const MAX_VEHICLE_TYPES = 50;

/** Whether removed events concern a count. */
export type Concern = (removed: RemovedEvents) => boolean;

/** The condition by which an event counts for each of the totals. */
const counts = {
  events: () => true,
  violations: ({ event_type, violation_type }) => isViolation(event_type, violation_type),
  incidents: ({ event_type }) => event_type === 'INCIDENT',
  processed: ({ processed }) => processed,
  unprocessed: ({ processed }) => !processed,
  archived: ({ archived }) => archived,
} as const satisfies Record<keyof Analytics['totals'], (row: CountRow) => boolean>;

/**
 * For each total that not all events affect: whether removed events affect it. All removed events affect the other
 * totals.
 */
const concerns: Partial<Record<keyof typeof counts, Concern>> = {
  violations: ({ mayHoldViolations }) => mayHoldViolations,
  incidents: ({ eventType }) => eventType === 'INCIDENT',
};

/**
 * The totals of a period compared with those of the previous one.
 * @param isGone whether events of this kind were removed from the previous period
 */
export function totalsOf(
  now: readonly CountRow[],
  before: readonly CountRow[],
  isGone: (concern?: Concern) => boolean,
): Analytics['totals'] {
  const total = (name: keyof typeof counts): Compared =>
    compare(sumOf(now, counts[name]), isGone(concerns[name]) ? null : sumOf(before, counts[name]));
  return {
    events: total('events'),
    violations: total('violations'),
    incidents: total('incidents'),
    processed: total('processed'),
    unprocessed: total('unprocessed'),
    archived: total('archived'),
  };
}

/** The counts of events by each of their properties. */
export function breakdownsOf(rows: readonly CountRow[]) {
  return {
    total: sumOf(rows, counts.events),
    processed: sumOf(rows, counts.processed),
    unprocessed: sumOf(rows, counts.unprocessed),
    archived: sumOf(rows, counts.archived),
    byType: sumsBy(rows, (row) => row.event_type).map(([eventType, count]) => ({ eventType, count })),
    byViolationType: sumsBy(rows, (row) => row.violation_type)
      .filter(([violationType]) => violationType !== '')
      .map(([violationType, count]) => ({ violationType, count })),
    byVehicleType: sumsBy(rows, (row) => row.vehicle_type)
      .slice(0, MAX_VEHICLE_TYPES)
      .map(([vehicleType, count]) => ({ vehicleType: vehicleType || null, count })),
    bySeverity: [...severity.options.map(rankOf).reverse(), 0]
      .map((rank) => ({
        severity: severityOfRank(rank),
        count: sumOf(rows, (row) => row.severity === rank),
      }))
      .filter(({ count }) => count > 0),
  };
}

function sumOf(rows: readonly CountRow[], isOne: (row: CountRow) => boolean): number {
  return rows.reduce((sum, row) => (isOne(row) ? sum + row.n : sum), 0);
}

function compare(value: number, previous: number | null): Compared {
  return {
    value,
    previous,
    change:
      previous === null || previous === 0
        ? null
        : Math.round(((value - previous) / previous) * 10_000) / 10_000,
  };
}

/** Sums by a key, in descending order. */
function sumsBy(rows: readonly CountRow[], keyOf: (row: CountRow) => string): [key: string, sum: number][] {
  return sumsBySpelling(rows.map((row) => [keyOf(row), row.n] as const)).filter(([, sum]) => sum > 0);
}
