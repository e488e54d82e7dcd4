import { z } from 'zod';
import { searchText } from './text.ts';

// A corridor is a part of one road: the places between two positions along it.

const KILOMETRE = 'Use the position along the road in km, from -99999.999 to 99999.999';
const kilometre = z.number(KILOMETRE).min(-99_999.999, KILOMETRE).max(99_999.999, KILOMETRE);

/** The positions between which a part of a road lies. */
export const positions = {
  fromKilometre: kilometre
    .optional()
    .describe('With `road`: from this position on, in km. Locations without a position are left out.'),
  toKilometre: kilometre
    .optional()
    .describe('With `road`: up to this position, in km. Locations without a position are left out.'),
};

/** The filters of sensors and locations by the part of a road. */
export const corridor = {
  road: searchText(100).describe('Only at the locations on this road, ignoring case.'),
  ...positions,
};

export interface Corridor {
  readonly road?: string | undefined;
  readonly fromKilometre?: number | undefined;
  readonly toKilometre?: number | undefined;
}

/** Refuses positions that contradict each other, or are on no road: they would find nothing. */
export function checkCorridor(
  { road, fromKilometre, toKilometre }: Corridor,
  ctx: { addIssue(issue: { code: 'custom'; path: PropertyKey[]; message: string }): void },
): void {
  const refuse = (name: string, message: string): void =>
    ctx.addIssue({ code: 'custom', path: [name], message });
  if (fromKilometre !== undefined && toKilometre !== undefined && fromKilometre > toKilometre)
    refuse('toKilometre', 'The end is before the start: swap fromKilometre and toKilometre');
  if (road !== undefined) return;
  for (const [name, value] of Object.entries({ fromKilometre, toKilometre }))
    if (value !== undefined) refuse(name, 'A position is on a road: name the road, too');
}
