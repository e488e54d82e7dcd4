import { DAY_MS } from '@gantry/contract/durations';
import type { TimeFormat } from './format.ts';

/** Two weeks, in milliseconds: in no time zone do the clocks change twice within this time. */
const STEP_MS = 14 * DAY_MS;

/** The distinct UTC offsets within a range, in the order in which they first apply. @param until exclusive */
export function offsetsOf(from: Date, until: Date, { offset }: TimeFormat): string[] {
  const offsets = new Set<string>();
  const last = until.getTime() - 1;
  for (let at = from.getTime(); at < last; at += STEP_MS) offsets.add(offset(new Date(at)));
  return [...offsets.add(offset(new Date(last)))];
}
