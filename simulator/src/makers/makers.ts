import { axisLpv } from './axis-lpv.ts';
import { dahua } from './dahua.ts';
import { hikvision } from './hikvision.ts';
import type { Maker } from './maker.ts';
import { milesight } from './milesight.ts';
import { openalpr } from './openalpr.ts';
import { platerecognizer } from './platerecognizer.ts';
import { tvt } from './tvt.ts';

/** The makers whose devices the simulator can imitate, by the names of their formats. */
export const makers = {
  hikvision,
  dahua,
  platerecognizer,
  openalpr,
  'axis-lpv': axisLpv,
  tvt,
  milesight,
} as const satisfies Readonly<Record<string, Maker>>;

export type MakerName = keyof typeof makers;
export const makerNames = Object.keys(makers) as MakerName[];
