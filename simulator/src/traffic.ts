import { HOUR_MS } from '@gantry/contract/durations';
import { TIME_ZONE } from './places.ts';

// The relative number of vehicles in each hour of the day, from midnight on.
const WEEKDAY = [
  0.3, 0.2, 0.15, 0.2, 0.45, 1, 1.8, 2.3, 2.1, 1.5, 1.3, 1.35, 1.45, 1.45, 1.6, 1.9, 2.2, 2.3, 1.8, 1.3, 1,
  0.8, 0.6, 0.45,
];
const WEEKEND = [
  0.5, 0.35, 0.25, 0.2, 0.2, 0.3, 0.5, 0.7, 1, 1.3, 1.5, 1.6, 1.7, 1.65, 1.6, 1.55, 1.5, 1.4, 1.2, 1.05, 0.9,
  0.8, 0.7, 0.6,
];
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const WEEK = DAYS.flatMap((day) => (day.startsWith('S') ? WEEKEND : WEEKDAY));
const MEAN = WEEK.reduce((sum, flow) => sum + flow, 0) / WEEK.length;
const PEAK = Math.max(...WEEK) / MEAN;

const clock = new Intl.DateTimeFormat('en-US', {
  timeZone: TIME_ZONE,
  weekday: 'short',
  hour: '2-digit',
  hourCycle: 'h23',
});
const knownHours = new Map<number, number>();

/**
 * The amount of traffic at a time (Unix milliseconds), by local time: 1 is the average over a week, rush hours are at
 * about 2, the early hours at about 0.2.
 */
export function trafficLevel(at: number): number {
  const hour = Math.floor(at / HOUR_MS);
  const now = Math.floor(hourOfWeek(at));
  const flow = WEEK[now] ?? MEAN;
  const next = WEEK[(now + 1) % WEEK.length] ?? MEAN;
  return (flow + (next - flow) * (at / HOUR_MS - hour)) / MEAN;
}

/** How full the roads are, from 0 for empty to 1 for the peak of the rush hour. */
export function congestion(at: number): number {
  return Math.min(1, trafficLevel(at) / PEAK);
}

/** The hours since the beginning of the local week (Sunday, midnight) at a time (Unix milliseconds). */
export function hourOfWeek(at: number): number {
  const hour = Math.floor(at / HOUR_MS);
  return wholeHourOfWeek(hour) + at / HOUR_MS - hour;
}

/** The hour of the local week of an hour since 1970, with a cache. */
function wholeHourOfWeek(hour: number): number {
  const known = knownHours.get(hour);
  if (known !== undefined) return known;
  const parts = clock.formatToParts(hour * HOUR_MS);
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? '';
  const found = DAYS.indexOf(part('weekday')) * 24 + Number(part('hour'));
  knownHours.set(hour, found);
  return found;
}
