import type { Format, FormatName } from './format.ts';
import { hikvision } from './formats/hikvision.ts';

/** Every format but `gantry`, whose messages are the service's own and are not read by a format. */
const all: readonly Format[] = [hikvision];

const byName = new Map(all.map((format) => [format.name, format]));

/** @throws Error for a name without a format; the contract admits only names that have one */
export function formatNamed(name: FormatName): Format {
  const format = byName.get(name);
  if (!format) throw new Error(`there is no format ${name}`);
  return format;
}

/** All formats, in the order in which they are offered. */
export const formats: readonly Format[] = all;
