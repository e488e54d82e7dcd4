import type { Option } from '../../../ui/select.tsx';

/** The UTC offset of a zone at a point in time: `UTC+02:00`. */
function offsetOf(zone: string, at: Date): string {
  const parts = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(
    at,
  );
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
  return name === 'GMT' ? 'UTC+00:00' : name.replace('GMT', 'UTC');
}

const MAX_FOUND = 60;

/** Current names of zones that some browsers list only under an older name. */
const RENAMED = [
  'America/Nuuk',
  'Asia/Ho_Chi_Minh',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Yangon',
  'Atlantic/Faroe',
  'Europe/Kyiv',
  'Pacific/Kanton',
];

/** Whether this browser supports the zone. */
function isKnown(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

let listed: readonly string[] | undefined;

/** The zones that can be chosen: UTC, and the others sorted by name. Computed once, as there are hundreds. */
function allZones(): readonly string[] {
  listed ??= [
    'UTC',
    ...[...new Set([...Intl.supportedValuesOf('timeZone'), ...RENAMED.filter(isKnown)])]
      .filter((zone) => zone !== 'UTC')
      .sort(),
  ];
  return listed;
}

/** Finds at most 60 zones by a part of the name (blanks match underscores) or of the offset. */
export function findZones(part: string, at = new Date()): readonly Option[] {
  const wanted = part.trim().toLowerCase().replaceAll(/\s+/g, '_');
  const found: Option[] = [];
  for (const zone of allZones()) {
    const label = `${zone} (${offsetOf(zone, at)})`;
    if (label.toLowerCase().includes(wanted)) found.push({ value: zone, label });
    if (found.length === MAX_FOUND) break;
  }
  return found;
}
