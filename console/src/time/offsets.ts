import { DAY_MS } from '@gantry/contract/durations';
import type { TimeFormat } from './format.ts';

/** Nowhere do the clocks change twice within this time, in milliseconds: two weeks. */
const STEP_MS = 14 * DAY_MS;

/** The offsets that hold within a range, each once, from the first on. */
export function offsetsOf(from: Date, until: Date, { offset }: TimeFormat): string[] {
  const offsets = new Set<string>();
  const last = until.getTime() - 1;
  for (let at = from.getTime(); at < last; at += STEP_MS) offsets.add(offset(new Date(at)));
  return [...offsets.add(offset(new Date(last)))];
}
