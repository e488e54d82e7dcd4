import type { Format, FormatName } from './format.ts';
import { dahua } from './formats/dahua.ts';
import { hikvision } from './formats/hikvision.ts';
import { huawei } from './formats/huawei.ts';
import { milesight } from './formats/milesight.ts';
import { tattile } from './formats/tattile.ts';
import { tvt } from './formats/tvt.ts';
import { uniview } from './formats/uniview.ts';

/** Every format but `gantry`, whose messages are the service's own and are not read by a format. */
const all: readonly Format[] = [hikvision, dahua, tvt, milesight, huawei, uniview, tattile];

const byName = new Map(all.map((format) => [format.name, format]));

/** @throws Error for a name without a format; the contract admits only names that have one */
export function formatNamed(name: FormatName): Format {
  const format = byName.get(name);
  if (!format) throw new Error(`there is no format ${name}`);
  return format;
}

/** All formats, in the order in which they are offered. */
export const formats: readonly Format[] = all;
