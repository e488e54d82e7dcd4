import type { GantryClient } from '@gantry/client';
import { DAY_MS } from '@gantry/contract/durations';
import type { Severity } from '@gantry/contract/events';
import { MAX_TAKE } from '@gantry/contract/page';
import { vehicleOf } from '../vehicle.ts';

/** A watched plate. Times are in days before now. */
interface Sample {
  readonly pattern: string;
  readonly reason: string;
  readonly priority: Severity;
  readonly since?: number;
  readonly until?: number;
  readonly fuzzy?: boolean;
}

/**
 * The plates of commuters, which are read some eighty times in a month of history, and every minute or two by the live
 * fleet.
 */
export const samples: readonly Sample[] = [
  { pattern: plate(8), reason: 'Stolen van, police report 26-018342', priority: 'CRITICAL', since: 6 },
  {
    pattern: `*${plate(34).slice(-4)}`,
    reason: 'AMBER Alert: only the last four digits are known',
    priority: 'CRITICAL',
    since: 9,
  },
  {
    pattern: misread(plate(9)),
    reason: 'Hit and run on Veirs Mill Rd, the plate as a witness remembers it',
    priority: 'HIGH',
    since: 12,
    fuzzy: true,
  },
  {
    pattern: `${plate(12).slice(0, -2)}*`,
    reason: 'Overweight truck seen by a patrol, last digits not known',
    priority: 'MEDIUM',
  },
  { pattern: plate(4), reason: 'Coach without a valid inspection: inform the police', priority: 'MEDIUM' },
  { pattern: plate(25), reason: 'Oversize load with escort: tell the bridge at Layhill Rd', priority: 'LOW' },
  { pattern: plate(14), reason: 'Missing person (found safe)', priority: 'HIGH', until: 12 },
];

/** Makes sure that there is an entry for each of the plates. Existing entries are not changed. */
export async function ensureWatchlist(
  { watchlist }: GantryClient['api'],
  now: number,
): Promise<{ created: number }> {
  const ensure = async ({ pattern, since, until, ...said }: Sample): Promise<number> => {
    const { entries } = await watchlist.getAll.query({ search: pattern, take: MAX_TAKE });
    if (entries.some((entry) => entry.pattern === pattern)) return 0;
    const validity = { validFrom: daysBefore(now, since), validUntil: daysBefore(now, until) };
    await watchlist.create.mutate({ pattern, ...said, ...validity });
    return 1;
  };
  const created = await Promise.all(samples.map(ensure));
  return { created: created.reduce((sum, one) => sum + one, 0) };
}

function plate(vehicle: number): string {
  return vehicleOf(vehicle).plate;
}

/** The text with typical reading errors. */
function misread(text: string): string {
  return text.replaceAll('8', 'B').replaceAll('0', 'O').replaceAll('5', 'S');
}

function daysBefore(now: number, days: number | undefined): Date | null {
  return days === undefined ? null : new Date(now - days * DAY_MS);
}
