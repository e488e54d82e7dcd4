import type { HeadwaysInput, HeadwaysOfPlace } from '@gantry/contract/headways';
import { directionOfText, laneOfText } from '../events/passage-columns.ts';
import { invalidInput } from '../platform/error.ts';
import { requireRange } from '../platform/time.ts';
import { type BinStatus, roundTo } from './bin.ts';
import { type CountedPassage, inIntervals, MAX_SILENCE_MS, type Parts, readTraffic } from './figures.ts';
import { getPlace } from './places-store.ts';
import { localBounds, requireFewPoints } from './range.ts';
import { partOfWeek } from './studies.ts';
import { MAX_PASSED } from './vehicles-store.ts';

// Headways: the times between the fronts of successive vehicles of a lane.

/** The time behind the vehicle ahead, in seconds. */
interface Headway {
  /** When the vehicle passed, in Unix milliseconds. */
  readonly at: number;
  readonly seconds: number;
  readonly isDerived: boolean;
}

interface Lane {
  readonly sensorId: string;
  readonly direction: string;
  readonly lane: string;
  readonly headways: readonly Headway[];
}

/** The figures of headways; times in seconds, to 0.1, and shares to four decimals. */
interface HeadwayFigures {
  readonly n: number;
  readonly derived: number;
  readonly mean: number | null;
  readonly median: number | null;
  readonly shareUnder2: number | null;
  readonly shareUnder4: number | null;
  readonly status: BinStatus;
  readonly reason: string | null;
}

/** What headways are computed from. */
type Follower = Pick<CountedPassage, 'sensorId' | 'direction' | 'lane' | 'at' | 'headway' | 'isRejected'>;

/**
 * The headways of each lane of each sensor, in order of direction and lane: as reported or, where the sensor does not report
 * them, the time since the vehicle before, unless that is more than 20 minutes or one of the two is rejected.
 */
export function headwaysByLane(vehicles: readonly Follower[]): Lane[] {
  const lanes = new Map<string, Follower[]>();
  for (const vehicle of vehicles) {
    const key = JSON.stringify([vehicle.direction, vehicle.lane, vehicle.sensorId]);
    const lane = lanes.get(key);
    if (lane) lane.push(vehicle);
    else lanes.set(key, [vehicle]);
  }
  const { compare } = new Intl.Collator('en', { numeric: true });
  return [...lanes]
    .sort(([a], [b]) => compare(a, b))
    .map(([, followers]) => {
      const [first] = followers;
      const { sensorId = '', direction = '', lane = '' } = first ?? {};
      return { sensorId, direction, lane, headways: headwaysOf(followers) };
    });
}

function headwaysOf(vehicles: readonly Follower[]): Headway[] {
  const headways: Headway[] = [];
  let ahead: Follower | null = null;
  for (const vehicle of vehicles.toSorted((a, b) => a.at - b.at)) {
    const { at, headway, isRejected } = vehicle;
    if (!isRejected) {
      if (headway !== null) headways.push({ at, seconds: roundTo(headway, 2), isDerived: false });
      else if (ahead && !ahead.isRejected && at - ahead.at <= MAX_SILENCE_MS)
        headways.push({ at, seconds: (at - ahead.at) / 1_000, isDerived: true });
    }
    ahead = vehicle;
  }
  return headways;
}

/** The figures of some headways. @param isOver whether their range has ended */
export function figuresOf(headways: readonly Headway[], isOver: boolean): HeadwayFigures {
  const n = headways.length;
  const sorted = headways.map(({ seconds }) => seconds).sort((a, b) => a - b);
  const [low = 0, high = 0] = [sorted[Math.floor((n - 1) / 2)], sorted[Math.ceil((n - 1) / 2)]];
  const shareUnder = (limit: number): number | null =>
    n === 0 ? null : roundTo(sorted.filter((each) => each < limit).length / n, 4);
  return {
    n,
    derived: headways.filter(({ isDerived }) => isDerived).length,
    mean: n === 0 ? null : roundTo(sorted.reduce((sum, each) => sum + each, 0) / n, 1),
    median: n === 0 ? null : roundTo((low + high) / 2, 1),
    shareUnder2: shareUnder(2),
    shareUnder4: shareUnder(4),
    status: n === 0 ? 'INSUFFICIENT' : isOver ? 'VALID' : 'PROVISIONAL',
    reason: n === 0 ? NO_HEADWAY : null,
  };
}

const NO_HEADWAY =
  'No headway is known: sensors report them with single vehicles, or the times of successive vehicles of a lane';
const NO_LANES = 'The lane of some vehicles is not known: their headways are those of all lanes together';

/**
 * The headways at a place, of the motor vehicles in its volume whose events are still stored.
 * @throws AppError `notFound`; `badRequest` for a range that ends before it starts, or has more than 500,000 vehicles
 */
export async function getHeadways(parts: Parts, input: HeadwaysInput): Promise<HeadwaysOfPlace> {
  const { db, settings, clock } = parts;
  const { timezone } = settings.current();
  const range = requireRange(input, timezone);
  const isWhole = (input.hours ?? []).flat().every((minute) => minute % 60 === 0);
  requireFewPoints(range, isWhole ? 60 : 15, isWhole ? 'endDate' : 'hours');
  const place = await getPlace(db, input);
  const bounds = localBounds(range, isWhole ? 60 : 15, timezone);
  const traffic = await readTraffic(db, place, inIntervals(place, bounds), {
    now: clock.now(),
    detail: 'sums',
    excluding: { zone: timezone, isSilenceJudged: false },
  });
  const passages = await traffic.readPassages();
  if (passages.length > MAX_PASSED)
    throw invalidInput('endDate', `There are more than ${MAX_PASSED} vehicles: choose a shorter range`);
  const isInPart = partOfWeek(input, timezone);
  const isWanted = (time: number): boolean =>
    time >= range.from && time < range.until && (isInPart?.(time) ?? true);
  const lanes = headwaysByLane(passages).map((lane) => ({
    ...lane,
    headways: lane.headways.filter(({ at }) => isWanted(at)),
  }));
  const { slots, volumes } = traffic.rollups;
  const isOver = range.until <= clock.now();
  const whole = figuresOf(
    lanes.flatMap(({ headways }) => headways),
    isOver,
  );
  const isMixed = lanes.some(({ lane, headways }) => lane === '' && headways.some((each) => each.isDerived));
  return {
    timezone,
    vehicles: slots.reduce((sum, slot, n) => (isWanted(slot) ? sum + (volumes[n] ?? 0) : sum), 0),
    ...whole,
    reason: whole.reason ?? (isMixed ? NO_LANES : null),
    lanes: lanes.map(({ sensorId, direction, lane, headways }) => ({
      sensorId,
      ...(direction !== '' && { direction: directionOfText(direction) }),
      ...(lane !== '' && { lane: laneOfText(lane) }),
      ...figuresOf(headways, isOver),
    })),
  };
}
