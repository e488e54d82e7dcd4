import type { Format, FormatName } from './format.ts';
import { formatNamed, formats } from './formats.ts';
import { ownFormat } from './own-format.ts';

/** The format with the name, including the service's own. */
export function formatOf(name: FormatName): Format {
  return name === 'gantry' ? ownFormat : formatNamed(name);
}

/** All formats, including the service's own. */
export function allFormats(): readonly Format[] {
  return [...formats, ownFormat];
}
