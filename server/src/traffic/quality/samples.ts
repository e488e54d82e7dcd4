import { DAY_MS, HOUR_MS } from '@gantry/contract/durations';
import type { Logger } from 'pino';
import { laneOfText } from '../../events/passage-columns.ts';
import type { Database } from '../../platform/database/pool.ts';
import { type Executor, inTransaction, type Transaction } from '../../platform/database/transaction.ts';
import { type History, heldAt } from '../../platform/history.ts';
import { atHour, dayBounds, type Interval, type LocalDay, localDays } from '../../platform/time.ts';
import { source } from '../passed-store.ts';
import { getPlace } from '../places-store.ts';
import { readSensors, readSensorsById } from '../presence-store.ts';
import {
  chatter,
  fewSamples,
  lockedOn,
  noChange,
  occupancySpikes,
  oddSamples,
  oddSpeeds,
  type Sample,
  type Samples,
} from './detector-rules.ts';
import { type Flag, flagOf, THRESHOLDS } from './rules.ts';
import {
  type ChannelSample,
  hasSamplesAround,
  readBursts,
  readPassages,
  readRepeats,
  readSamples,
} from './samples-store.ts';
import { deferUnjudged, type FoundFlag, replaceFlags, takeUnjudged, type UnjudgedDay } from './store.ts';
import { readSurroundings, type Surroundings } from './surroundings.ts';

// Judges sensors by their samples and single vehicles, which are too many to be judged whenever figures are read: what is
// found in a day is stored when it is over.

/** A sensor with what rules need to know about it. */
export interface JudgedSensor {
  readonly sensorId: string;
  /** What it counts. */
  readonly source: number;
  readonly surroundings: Surroundings;
  /** km/h */
  readonly limits: History<number | null>;
}

/** What the samples of a day are compared with: those of the day before, as long as R5 looks back. */
const BACK_MS = THRESHOLDS.noChangeHours * HOUR_MS;

/** The longest period that is a sample of a detector. Longer ones are sums of many. */
const MAX_SAMPLE_MS = 60_000;

/** Fewer samples say nothing about a day. */
const MIN_SAMPLES = 10;

/**
 * What rules find in the samples and single vehicles of local days of a sensor (R3 to R10, R14 and lengths of R15).
 * @param now Unix milliseconds: days that are not over may get more samples
 */
export async function judgeSamples(
  db: Executor,
  sensor: JudgedSensor,
  days: readonly LocalDay[],
  { zone, now }: { zone: string; now: number },
): Promise<FoundFlag[]> {
  const found: FoundFlag[] = [];
  const add = (flags: readonly Flag[], { from: foundAt }: Interval): void => {
    found.push(...flags.map((flag) => ({ ...flag, sensorId: sensor.sensorId, foundAt })));
  };
  if (sensor.source !== source.COUNTED) {
    for (const day of days) add(await judgePassages(db, sensor, day), day);
    return found;
  }
  for (const run of successive(days)) {
    const span = { from: (run[0]?.from ?? 0) - BACK_MS, until: run.at(-1)?.until ?? 0 };
    const channels = channelsOf(await readSamples(db, sensor.sensorId, span), sensor.limits);
    for (const day of run)
      for (const channel of channels) {
        add(judgeChannel(channel, day, sensor.surroundings), day);
        const few = day.until <= now ? judgeNumber(channel, day, zone) : [];
        if (few.length > 0 && (await hasSamplesAround(db, sensor.sensorId, judgedHours(day, zone))))
          add(few, day);
      }
  }
  return found;
}

/** Days that follow one another. */
function successive(days: readonly LocalDay[]): LocalDay[][] {
  const runs: LocalDay[][] = [];
  for (const day of [...days].sort((a, b) => a.from - b.from)) {
    const last = runs.at(-1);
    if (last?.at(-1)?.until === day.from) last.push(day);
    else runs.push([day]);
  }
  return runs;
}

/** The samples of each direction, lane and movement, with the limits of their times. */
function channelsOf(
  samples: readonly ChannelSample[],
  limits: History<number | null>,
): { lane: string; samples: readonly ChannelSample[] }[] {
  const channels = new Map<string, ChannelSample[]>();
  for (const sample of samples) {
    const key = `${sample.direction}\n${sample.lane}\n${sample.movement}`;
    const channel = channels.get(key);
    if (channel) channel.push(sample);
    else channels.set(key, [sample]);
  }
  return [...channels.values()].map((each) => ({
    lane: each[0]?.lane ?? '',
    samples: each.map((sample) => ({ ...sample, limit: heldAt(limits, sample.start) ?? null })),
  }));
}

/** As rules want them. @param lanes that the samples are of: volumes are by lane */
function samplesOf(lane: string, samples: readonly ChannelSample[], lanes = 1): Samples {
  const byLane = lanes === 1 ? samples : samples.map((each) => perLane(each, lanes));
  return { samples: byLane, ...(lane !== '' && { lane: laneOfText(lane) }) };
}

function perLane<Each extends ChannelSample>(sample: Each, lanes: number): Each {
  return { ...sample, volume: sample.volume === null ? null : sample.volume / lanes };
}

function isShort({ start, end }: Sample): boolean {
  return end - start <= MAX_SAMPLE_MS;
}

function judgeChannel(
  { lane, samples }: { lane: string; samples: readonly ChannelSample[] },
  day: LocalDay,
  { facility, setting, lanes }: Surroundings,
): Flag[] {
  const before = samples.filter(({ start }) => start >= day.from - BACK_MS && start < day.until);
  const own = before.filter(({ start }) => start >= day.from);
  // Where lanes are not known, a sample is of one, and a longer count may be of any number.
  const ofLane = lane === '' ? lanes : 1;
  const byLane = samplesOf(lane, ofLane === null ? own.filter(isShort) : own, ofLane ?? 1);
  const short = samplesOf(lane, own.filter(isShort), ofLane ?? 1);
  const clearMs = THRESHOLDS.clearHours * HOUR_MS;
  const isOwn = ({ until }: Flag): boolean => until > day.from;
  return [
    ...chatter(byLane),
    ...lockedOn(samplesOf(lane, before), facility).filter(({ until }) => until - clearMs > day.from),
    ...noChange(samplesOf(lane, before)).filter(isOwn),
    ...occupancySpikes(samplesOf(lane, before.filter(isShort))).filter(isOwn),
    ...(short.samples.length < MIN_SAMPLES ? [] : oddSamples(short, day, setting)),
    ...oddSpeeds(samplesOf(lane, own)),
    ...own.flatMap(({ start, end, oddLength = null }) =>
      oddLength === null ? [] : [oddLengthFlag({ from: start, until: end }, oddLength)],
    ),
  ];
}

/** R7, if any sample of the day is there. */
function judgeNumber(
  { lane, samples }: { lane: string; samples: readonly ChannelSample[] },
  day: LocalDay,
  zone: string,
): Flag[] {
  const own = samples.filter((each) => each.start >= day.from && each.start < day.until && isShort(each));
  const [first] = own;
  return first ? fewSamples(samplesOf(lane, own), day, zone, (first.end - first.start) / 1_000) : [];
}

function judgedHours({ day }: LocalDay, zone: string): Interval {
  const { from, until } = THRESHOLDS.judgedHours;
  return { from: atHour(day, from, zone), until: atHour(day, until, zone) };
}

function oddLengthFlag(span: Interval, length: number): Flag {
  const { minLength, maxLength } = THRESHOLDS;
  return flagOf('R15', span, length, length >= maxLength ? maxLength : minLength);
}

async function judgePassages(
  db: Executor,
  { surroundings: { facility, lanes }, limits, ...sensor }: JudgedSensor,
  day: LocalDay,
): Promise<Flag[]> {
  const { bursts, standing, quarters, lengths } = await readPassages(db, sensor, day);
  const { minLength, maxLength } = THRESHOLDS;
  const known = bursts.flatMap((burst) => onLane(burst, lanes));
  return [
    ...channelsOf(known, limits).flatMap(({ lane, samples }) => chatter(samplesOf(lane, samples))),
    ...channelsOf(standing, limits).flatMap(({ lane, samples }) =>
      lockedOn(samplesOf(lane, samples), facility),
    ),
    ...oddSpeeds({
      samples: quarters.map((each) => ({ ...each, limit: heldAt(limits, each.start) ?? null })),
    }),
    ...(lengths && lengths.shortest < minLength ? [oddLengthFlag(lengths, lengths.shortest)] : []),
    ...(lengths && lengths.longest > maxLength ? [oddLengthFlag(lengths, lengths.longest)] : []),
  ];
}

/** A burst as one of a single lane, if it is known of how many it is. */
function onLane<Each extends ChannelSample>(burst: Each, lanes: number | null): Each[] {
  const ofLane = burst.lane === '' ? lanes : 1;
  return ofLane === null ? [] : [perLane(burst, ofLane)];
}

/**
 * The sensors of single vehicles that saw more of them in 30 seconds than can pass on a lane, as R3 judges them, with the most vehicles.
 */
export async function findChatter(
  db: Executor,
  sensorIds: readonly string[],
  range: Interval,
): Promise<ReadonlyMap<string, number>> {
  const known = await readSensorsById(db, sensorIds);
  const counting = known.flatMap(({ sensorId, source: counted }) =>
    counted === null || counted === source.COUNTED ? [] : [{ sensorId, source: counted }],
  );
  const found = new Map<string, number>();
  for (const burst of await readBursts(db, counting, range)) {
    const { sensorId } = burst;
    const place = { kind: 'sensor', id: sensorId } as const;
    const lanes = burst.lane === '' ? (await readSurroundings(db, place, range.until)).of(sensorId).lanes : 1;
    for (const { volume } of onLane(burst, lanes))
      if (volume !== null && volume >= THRESHOLDS.chatterVehicles)
        found.set(sensorId, Math.max(found.get(sensorId) ?? 0, volume));
  }
  return found;
}

/** The sensors whose latest events repeat one speed or one plate, with how often. @param now Unix milliseconds */
export async function findStuck(
  db: Executor,
  sensorIds: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const repeats = await readRepeats(db, sensorIds, now);
  return new Map(
    repeats.flatMap(({ id, equalSpeeds, samePlate }) =>
      equalSpeeds >= THRESHOLDS.equalSpeeds || samePlate >= THRESHOLDS.samePlate
        ? [[id, Math.max(equalSpeeds, samePlate)] as const]
        : [],
    ),
  );
}

/**
 * The local days in which something may be found if the counts of these days in UTC changed: a day is judged together with the
 * one before.
 * @param back so much earlier, in milliseconds: R7 also depends on what was reported afterwards
 */
export function daysToJudge(unjudged: readonly UnjudgedDay[], zone: string, back = 0): LocalDay[] {
  const days = unjudged.flatMap(({ start }) => {
    const bounds = dayBounds({ from: start - back, until: start + 2 * DAY_MS }, zone);
    return [...localDays({ from: bounds[0] ?? start, until: bounds.at(-1) ?? start }, zone)];
  });
  return [...new Map(days.map((day) => [day.day, day])).values()];
}

/** Days of one sensor that are judged in one transaction. */
const DAYS_AT_ONCE = 3;

/** So long after its end a day is judged, in milliseconds. Until then, readers judge it, and most late data have arrived. */
const SETTLED_MS = HOUR_MS;

/** What judging needs. */
interface Judging {
  readonly log: Pick<Logger, 'warn'>;
  /** The time zone of days. */
  readonly zone: string;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * Judges some days of a sensor that are over, and stores what is found. Readers find the same until then. If that fails, such as
 * because it takes too long, these days wait, and others are judged before them.
 * @returns whether there may be more
 */
export async function judgeNext(db: Database, { log, ...at }: Judging): Promise<boolean> {
  let taken: readonly UnjudgedDay[] = [];
  try {
    return await inTransaction(db, async (tx) => {
      // A local day may end almost two days after a day in UTC began.
      taken = await takeUnjudged(tx, at.now - SETTLED_MS - DAY_MS, DAYS_AT_ONCE);
      if (taken.length > 0) await judgeTaken(tx, taken, at);
      return taken.length > 0;
    });
  } catch (error) {
    const [first] = taken;
    if (!first) throw error;
    await deferUnjudged(db, taken);
    const days = taken.map(({ start }) => new Date(start).toISOString().slice(0, 10));
    const { sensorId, attempts } = first;
    log.warn(
      { err: error, sensorId, days, attempts: attempts + 1 },
      'days of a sensor could not be judged; they will be tried again later',
    );
    return true;
  }
}

async function judgeTaken(
  tx: Transaction,
  unjudged: readonly UnjudgedDay[],
  { zone, now }: Omit<Judging, 'log'>,
): Promise<void> {
  const { sensorId = '', start = now } = unjudged[0] ?? {};
  const place = await getPlace(tx, { sensorId, mayBeDeleted: true });
  const [known] = await readSensors(tx, place);
  const days = daysToJudge(unjudged, zone, DAY_MS).filter(({ until }) => until <= now);
  const surroundings = (await readSurroundings(tx, place, start)).of(sensorId);
  const { limits } = place;
  const flags =
    known?.source == null
      ? []
      : await judgeSamples(tx, { sensorId, source: known.source, surroundings, limits }, days, { zone, now });
  await replaceFlags(
    tx,
    sensorId,
    days.map(({ from }) => from),
    flags,
  );
}
