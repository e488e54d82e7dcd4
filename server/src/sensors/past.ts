import { invalidInput } from '../platform/error.ts';
import { resolveTime } from '../platform/time.ts';
import type { Past } from './placements-store.ts';

/** A change as given: a time without an offset is in the time zone of the service. */
export interface GivenPast {
  readonly validFrom?: string | undefined;
  readonly validUntil?: string | undefined;
}

/**
 * The past in which a change holds; null if it is made now.
 * @param field what is changed, which must be given as well
 * @throws AppError `badRequest` for times that are not in the past or not in order, and without the field
 */
export function pastOf(
  { validFrom, validUntil }: GivenPast,
  { field, isGiven, timezone, now }: { field: string; isGiven: boolean; timezone: string; now: number },
): Past | null {
  const given = Object.entries({ validFrom, validUntil }).find(([, text]) => text !== undefined);
  if (!given) return null;
  if (!isGiven) throw invalidInput(given[0], `${given[0]} is of no use without ${field}: give both`);
  if (validFrom === undefined)
    throw invalidInput(
      'validFrom',
      'A change until a time needs the time from which it holds: give validFrom',
    );
  const timeOf = (name: string, text: string): number => {
    const time = resolveTime(text, timezone);
    if (time <= now) return time;
    throw invalidInput(
      name,
      `${name} is ${new Date(time).toISOString()}, which is in the future: make the change then, and leave out validUntil if it holds now`,
    );
  };
  const from = timeOf('validFrom', validFrom);
  const until = validUntil === undefined ? null : timeOf('validUntil', validUntil);
  if (until !== null && until <= from)
    throw invalidInput(
      'validUntil',
      `validUntil is not after validFrom: give a later end, or none if it holds now`,
    );
  return { from, until };
}
