import type { Format, FormatName } from './format.ts';
import { axisAoa } from './formats/axis-aoa.ts';
import { axisLpv } from './formats/axis-lpv.ts';
import { dahua } from './formats/dahua.ts';
import { frigate } from './formats/frigate.ts';
import { gantry } from './formats/gantry.ts';
import { hikvision } from './formats/hikvision.ts';
import { mapped } from './formats/mapped.ts';
import { openalpr } from './formats/openalpr.ts';
import { platerecognizer } from './formats/platerecognizer.ts';
import { unifiProtect } from './formats/unifi-protect.ts';
import { verkada } from './formats/verkada.ts';

/** Every format but `gantry`, whose messages are the service's own and are not read by a format. */
const all: readonly Format[] = [
  hikvision,
  dahua,
  platerecognizer,
  openalpr,
  frigate,
  axisLpv,
  axisAoa,
  unifiProtect,
  verkada,
  mapped,
  gantry,
];

const byName = new Map(all.map((format) => [format.name, format]));

/** @throws Error for a name without a format; the contract admits only names that have one */
export function formatNamed(name: FormatName): Format {
  const format = byName.get(name);
  if (!format) throw new Error(`there is no format ${name}`);
  return format;
}

/** All formats, in the order in which they are offered. */
export const formats: readonly Format[] = all;
