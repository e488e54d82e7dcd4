import type { Option } from '../../ui/select.tsx';

/** What the offset of a zone is at a moment: `UTC+02:00`. */
function offsetOf(zone: string, at: Date): string {
  const parts = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(
    at,
  );
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
  return name === 'GMT' ? 'UTC+00:00' : name.replace('GMT', 'UTC');
}

const MOST = 60;

/** Names that people look for and some browsers list by an older one alone. */
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

/** Whether this browser can show times in the zone. */
function isKnown(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

let listed: readonly string[] | undefined;

/** Every zone that can be chosen, by name. Made once: there are hundreds. */
function allZones(): readonly string[] {
  listed ??= [
    'UTC',
    ...[...new Set([...Intl.supportedValuesOf('timeZone'), ...RENAMED.filter(isKnown)])]
      .filter((zone) => zone !== 'UTC')
      .sort(),
  ];
  return listed;
}

/** Finds zones by a part of the name (blanks stand for underscores) or of the offset. */
export function findZones(part: string, at = new Date()): readonly Option[] {
  const wanted = part.trim().toLowerCase().replaceAll(/\s+/g, '_');
  const found: Option[] = [];
  for (const zone of allZones()) {
    const label = `${zone} (${offsetOf(zone, at)})`;
    if (label.toLowerCase().includes(wanted)) found.push({ value: zone, label });
    if (found.length === MOST) break;
  }
  return found;
}
