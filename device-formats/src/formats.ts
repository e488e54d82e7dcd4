import type { Format, FormatName } from './format.ts';
import { axisAoa } from './formats/axis-aoa.ts';
import { axisLpv } from './formats/axis-lpv.ts';
import { codeproject } from './formats/codeproject.ts';
import { dahua } from './formats/dahua.ts';
import { datex2 } from './formats/datex2.ts';
import { fiware } from './formats/fiware.ts';
import { frigate } from './formats/frigate.ts';
import { gantry } from './formats/gantry.ts';
import { genetec } from './formats/genetec.ts';
import { hikvision } from './formats/hikvision.ts';
import { huawei } from './formats/huawei.ts';
import { mapped } from './formats/mapped.ts';
import { milesight } from './formats/milesight.ts';
import { openalpr } from './formats/openalpr.ts';
import { ops243 } from './formats/ops243.ts';
import { platerecognizer } from './formats/platerecognizer.ts';
import { sensorthings } from './formats/sensorthings.ts';
import { tattile } from './formats/tattile.ts';
import { tvt } from './formats/tvt.ts';
import { unifiProtect } from './formats/unifi-protect.ts';
import { uniview } from './formats/uniview.ts';
import { verkada } from './formats/verkada.ts';

const all: readonly Format[] = [
  hikvision,
  dahua,
  platerecognizer,
  openalpr,
  frigate,
  axisLpv,
  axisAoa,
  unifiProtect,
  tvt,
  milesight,
  verkada,
  tattile,
  codeproject,
  huawei,
  uniview,
  genetec,
  ops243,
  fiware,
  datex2,
  sensorthings,
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
