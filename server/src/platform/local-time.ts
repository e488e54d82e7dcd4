import { HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import type { TimezoneSettings } from '@gantry/contract/system';
import { offsetsOf } from './time.ts';

/** Formats times (Unix milliseconds) in one time zone. */
export interface LocalTime {
  /** The local time as if it were UTC. */
  wall(moment: number): Date;
  /** ISO 8601 with offset: 2026-01-31T08:15:00.000+01:00. */
  iso(moment: number): string;
  /** 2026-01-31 */
  day(moment: number): string;
  /** In the format of the settings: date and time to the second, with the offset in an hour that occurs twice. */
  show(moment: number): string;
  /** The offset, such as +01:00, if this local time occurs twice; otherwise null. */
  offsetIfTwice(moment: number): string | null;
  showDay(day: string): string;
}

/** Clocks are set back by less than this. */
const MAX_SHIFT_MS = 3 * HOUR_MS;

const dayIn: Readonly<Record<TimezoneSettings['dateFormat'], (y: string, m: string, d: string) => string>> = {
  'DD/MM/YYYY': (y, m, d) => `${d}/${m}/${y}`,
  'MM/DD/YYYY': (y, m, d) => `${m}/${d}/${y}`,
  'YYYY-MM-DD': (y, m, d) => `${y}-${m}-${d}`,
  'DD.MM.YYYY': (y, m, d) => `${d}.${m}.${y}`,
};

/** Shows times in a time zone and form of the settings. */
export function createLocalTime({ timezone, dateFormat, use24HourFormat }: TimezoneSettings): LocalTime {
  const offsetAt = offsetsOf(timezone);
  const wall = (moment: number): Date => new Date(moment + offsetAt(moment) * MINUTE_MS);
  const day = (moment: number): string => wall(moment).toISOString().slice(0, 10);
  const showDay = (text: string): string => {
    const [y = '', m = '', d = ''] = text.split('-');
    return dayIn[dateFormat](y, m, d);
  };
  /** A local time occurs twice if the offset before or after maps it to another time. */
  const offsetIfTwice = (moment: number): string | null => {
    const offset = offsetAt(moment);
    const comesAgain = [-MAX_SHIFT_MS, MAX_SHIFT_MS].some((away) => {
      const other = offsetAt(moment + away);
      return other !== offset && offsetAt(moment + (offset - other) * MINUTE_MS) === other;
    });
    return comesAgain ? offsetText(offset) : null;
  };
  return {
    wall,
    day,
    showDay,
    offsetIfTwice,
    iso: (moment) => `${wall(moment).toISOString().slice(0, -1)}${offsetText(offsetAt(moment))}`,
    show(moment) {
      const time = wall(moment).toISOString().slice(11, 19);
      const offset = offsetIfTwice(moment);
      return `${showDay(day(moment))} ${use24HourFormat ? time : hourOf12(time)}${offset ? ` ${offset}` : ''}`;
    },
  };
}

function offsetText(minutes: number): string {
  const two = (n: number): string => String(Math.trunc(n)).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(size / 60)}:${two(size % 60)}`;
}

function hourOf12(time: string): string {
  const hour = Number(time.slice(0, 2));
  return `${hour % 12 === 0 ? 12 : hour % 12}${time.slice(2)} ${hour < 12 ? 'AM' : 'PM'}`;
}

/** A duration in its two largest units: 1 d 2 h, 5 min 10 s. */
export function formatDuration(seconds: number): string {
  const units = [
    { name: 'd', size: 86_400 },
    { name: 'h', size: 3_600 },
    { name: 'min', size: 60 },
    { name: 's', size: 1 },
  ];
  const first = units.findIndex(({ size }) => seconds >= size);
  if (first === -1) return '0 s';
  const [large, small] = units.slice(first, first + 2);
  const whole = Math.floor(seconds / (large?.size ?? 1));
  const rest = small ? Math.floor((seconds % (large?.size ?? 1)) / small.size) : 0;
  return `${whole} ${large?.name}${rest > 0 ? ` ${rest} ${small?.name}` : ''}`;
}
