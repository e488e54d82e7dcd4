import type { StudySubject } from '@gantry/contract/studies';
import { roundTo } from '../../traffic/bin.ts';
import { PEAK_WINDOWS } from '../../traffic/peak-hours.ts';
import { KMH_PER_MPH } from '../../traffic/speed-sample.ts';
import { type Figure, UNIT_NAMES } from '../document.ts';
import { weekdayName } from './study-rows.ts';

// How the figures of a study are computed: definitions, formulas with their sources, settings, and the words of statuses.

const STATUSES: readonly Figure[] = [
  { name: 'VALID', value: 'The interval is over, and at least 95 % of it is known.' },
  { name: 'PARTIAL', value: 'It is over, and less than 95 % of it is known; the count is of what is known.' },
  { name: 'PROVISIONAL', value: 'It was not over when the figures were computed.' },
  { name: 'GAP', value: 'It is over, and nothing is known. Its cells are empty; a 0 is a count.' },
  { name: 'EXCLUDED', value: 'Its data were rejected.' },
  { name: 'INSUFFICIENT', value: 'There are fewer observations than the figure needs; the value is empty.' },
];

const COUNTS: readonly Figure[] = [
  {
    name: 'Vehicles',
    value:
      'Motor vehicles, each counted once: by one type of sensor of the place, the one with most coverage. Pedestrians and bicycles are counted apart.',
  },
  {
    name: 'Intervals',
    value:
      'By local time, named by their start; the start is included, the end is not. An hour that a change of clocks repeats is shown twice, with its offset from UTC.',
  },
  {
    name: 'Coverage',
    value: 'The share of the time in which a counting sensor was known to work, or sent counts.',
  },
  {
    name: 'Complete day',
    value: 'At least 95 % of the local day, and 75 % of each of its hours, are known.',
  },
];

const PEAKS: readonly Figure[] = [
  {
    name: 'Peak hour',
    value:
      'The four successive VALID quarter hours of a window with the largest sum of motor vehicles, beginning on any quarter hour; the first of equal ones (City of Toronto, MOVE).',
  },
  {
    name: 'Peak hour factor (PHF)',
    value:
      'PHF = V60 / (4 · V15), where V60 is the volume of the peak hour and V15 that of its busiest quarter hour (Highway Capacity Manual). PHF of movements and directions: in the peak hour of the total.',
  },
  { name: 'K', value: 'Peak hour / volume of the day; empty unless the day is complete.' },
  {
    name: 'D',
    value:
      'Heavier direction / both directions in the peak hour; empty unless exactly two directions were counted.',
  },
  {
    name: 'T, heavy vehicles',
    value: 'Buses and trucks / all motor vehicles (FHWA classes 4 to 13); empty if no vehicle has a class.',
  },
];

const DAILY: readonly Figure[] = [
  {
    name: 'Average daily traffic',
    value:
      'The mean volume of complete days; days that are not complete are listed, and are in no mean. Monday to Friday, and Saturday and Sunday, accordingly.',
  },
  {
    name: 'Sums',
    value:
      'Hours and days are sums of the intervals that are known. If one of them is not, the status says so.',
  },
];

const TURNING: readonly Figure[] = [
  {
    name: 'Approach',
    value: 'NORTHBOUND (SOUTH APPROACH): vehicles that come from the leg in the south and travel north.',
  },
  {
    name: 'Exit',
    value:
      'Vehicles that leave through a leg, if turns are at right angles. Those whose turn is not known are in none.',
  },
];

const TESTS: readonly Figure[] = [
  {
    name: 'Means',
    value:
      'Welch: z = (m₁ − m₂) / √(s₁²/n₁ + s₂²/n₂); as t, with Satterthwaite’s degrees of freedom, if one of the samples is smaller than 30.',
  },
  {
    name: 'Shares over the limit',
    value: 'z = (p₁ − p₂) / √(p(1 − p)(1/n₁ + 1/n₂)), where p is the share of both samples together.',
  },
  {
    name: 'V85',
    value:
      'z = (v₁ − v₂) / (1.5315 · √(s₁²/n₁ + s₂²/n₂)), by the asymptotic distribution of sample quantiles (Cramér) of normal speeds (Hou, Sun and Edara, Transportation Research Record 2279).',
  },
  {
    name: 'p',
    value:
      'Two-sided: the probability of such a difference, in either direction, if nothing had changed. Below 5 % it is significant.',
  },
];

const PERCENTILES = {
  NEAREST_RANK: 'The speed of vehicle number round(n · p), half up, counted from the slowest.',
  LINEAR: 'Interpolated linearly between ranks (Hyndman and Fan, type 7).',
  CLASSED:
    'Interpolated linearly within the class of speeds that contains the rank, from its first to its last whole unit (City of Toronto, MOVE).',
} as const;

function speeds(method: keyof typeof PERCENTILES): Figure[] {
  return [
    {
      name: 'Percentiles',
      value: `V85 is the speed that 85 % of the vehicles do not exceed. ${PERCENTILES[method]} Given from 30 vehicles on.`,
    },
    {
      name: 'Interval of V85',
      value:
        'The speeds of the vehicles n · p ± 1.96 · √(n · p · (1 − p)), with ranks rounded outwards (order statistics, 95 %).',
    },
    {
      name: 'Sample size',
      value:
        'n = s² · 1.96² · (2 + 1.04²) / (2 · e²), with the margin e of ±2 km/h or ±1 mph, and at least 30 (Buckholz, University of North Florida, TTE 4004).',
    },
    {
      name: 'Pace',
      value: 'The ten units that contain most vehicles: from ≤ v < from + 10; the lowest of several.',
    },
    {
      name: 'Over the limit',
      value:
        'v > limit + x, of vehicles that passed while a limit was known, each with the limit of its time; the limit is rounded to 0.1 units.',
    },
    {
      name: 'Plausible speeds',
      value: 'Above 0 and up to 250 km/h. A vehicle with another speed is not in the speeds.',
    },
  ];
}

function clock(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}

function windowsOf({
  windows = PEAK_WINDOWS,
}: {
  windows?: readonly { window: string; from?: number; until?: number }[] | undefined;
}): string {
  const all = windows.map(({ window, ...given }) => {
    const { from, until } = { ...PEAK_WINDOWS.find((each) => each.window === window), ...given };
    if (from !== undefined && until !== undefined) return `${window} ${clock(from)}–${clock(until)}`;
    return `${window} ${from === undefined ? 'from the end of the AM peak hour' : `from ${clock(from)}`} ${until === undefined ? 'to the start of the PM peak hour' : `to ${clock(until)}`}`;
  });
  return all.join('; ');
}

/** The units of a study, and how its percentiles are read or its intervals are formed. */
export function unitsOf(subject: StudySubject): { units: string; method: string } {
  switch (subject.kind) {
    case 'SPEED':
      return { units: UNIT_NAMES[subject.units], method: `percentiles by ${subject.method}` };
    case 'COMPARISON':
      return { units: UNIT_NAMES[subject.units], method: 'percentiles by NEAREST_RANK' };
    default:
      return { units: 'vehicles per interval', method: `intervals of ${INTERVALS[subject.interval]}` };
  }
}

const INTERVALS = { '15min': '15 minutes', '60min': 'an hour', day: 'a day' } as const;

/** What was chosen for the study, as far as it differs between studies. */
function settingsOf(subject: StudySubject): Figure[] {
  const { units, method } = unitsOf(subject);
  const set: Figure[] = [
    { name: 'Units', value: units },
    { name: 'Method', value: method },
  ];
  if (units === 'mph')
    set.push({
      name: 'Mile',
      value: `${roundTo(KMH_PER_MPH, 6)} km; a speed within 0.002 of a whole mph is that.`,
    });
  if (subject.kind === 'SPEED') {
    const { days, hours, vehicleClass, binEdges } = subject;
    if (days)
      set.push({ name: 'Only on', value: days.map((day) => weekdayName(`2026-02-0${day + 1}`)).join(', ') });
    if (hours)
      set.push({
        name: 'Only at',
        value: hours.map(([from, until]) => `${clock(from)}–${clock(until)}`).join(', '),
      });
    if (vehicleClass) set.push({ name: 'Only vehicles of the class', value: vehicleClass });
    if (binEdges)
      set.push({
        name: 'Classes of speeds',
        value: binEdges.map(([from, to]) => `${from}–${to}`).join(', '),
      });
  } else if (subject.kind !== 'COMPARISON')
    set.push({ name: 'Windows of peak hours', value: windowsOf(subject) });
  return set;
}

/** The data that the hash is of, in words. */
const HASH: Figure = {
  name: 'SHA-256',
  value:
    'Of the table in the CSV file of this study: its lines up to the first that begins with #, in UTF-8 without the byte order mark. The same data have the same hash, whoever computes it.',
};

/** How the figures of a study are computed. */
export function methodsOf(subject: StudySubject): Figure[] {
  switch (subject.kind) {
    case 'SPEED':
      return [...settingsOf(subject), ...speeds(subject.method), HASH, ...STATUSES];
    case 'COMPARISON':
      return [...settingsOf(subject), ...TESTS, ...speeds('NEAREST_RANK'), HASH, ...STATUSES];
    case 'TURNING_MOVEMENTS':
      return [...settingsOf(subject), ...COUNTS, ...TURNING, ...PEAKS, HASH, ...STATUSES];
    case 'VOLUME':
      return [...settingsOf(subject), ...COUNTS, ...DAILY, ...PEAKS, HASH, ...STATUSES];
    case 'PEAK_HOURS':
      return [...settingsOf(subject), ...COUNTS, ...PEAKS, HASH, ...STATUSES];
  }
}
