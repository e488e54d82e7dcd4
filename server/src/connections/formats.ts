import type { Format, FormatName } from './format.ts';
import { datex2 } from './formats/datex2.ts';
import { fiware } from './formats/fiware.ts';
import { gantry } from './formats/gantry.ts';
import { mapped } from './formats/mapped.ts';
import { ops243 } from './formats/ops243.ts';
import { sensorthings } from './formats/sensorthings.ts';

const all: readonly Format[] = [ops243, fiware, datex2, sensorthings, mapped, gantry];

const byName = new Map(all.map((format) => [format.name, format]));

/** @throws Error for a name without a format; the contract admits only names that have one */
export function formatNamed(name: FormatName): Format {
  const format = byName.get(name);
  if (!format) throw new Error(`there is no format ${name}`);
  return format;
}

/** All formats, in the order in which they are offered. */
export const formats: readonly Format[] = all;
