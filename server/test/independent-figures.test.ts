import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DAY_MS, MINUTE_MS } from '@gantry/contract/durations';
import { DateTime } from 'luxon';
import { expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';
import { seeded } from './simulated-month.ts';
import { isLong } from './test-length.ts';

// A month of two places and a year of two others, with late, repeated, corrected and deleted data and sensors that fail in several ways, computed again
// by a program in Python from what was sent (recompute-figures.py).

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');
const ask = (procedure: string, input: object) => gantry.ok(procedure, input, { token });
const hasPython = spawnSync('python3', ['--version']).status === 0;
const program = fileURLToPath(new URL('recompute-figures.py', import.meta.url));

const { zone, first, days } = isLong
  ? { zone: 'Australia/Lord_Howe', first: '2026-04-01', days: 30 }
  : { zone: 'America/New_York', first: '2026-03-04', days: 8 };
const QUARTER_MS = 15 * MINUTE_MS;
const LIMIT = 50;
/** The start of a day, or a time of it as clocks show it. */
const at = (day: number, time = '00:00'): number =>
  DateTime.fromISO(`${first}T${time}`, { zone }).plus({ days: day }).toMillis();
const [from, until] = [at(0), at(days)];
const random = seeded(43);
const whole = (below: number): number => Math.floor(random() * below);
const pick = <Item>(items: readonly Item[]): Item => items[whole(items.length)] as Item;
const shuffled = <Item>(items: readonly Item[]): Item[] =>
  items
    .map((item) => ({ item, n: random() }))
    .sort((a, b) => a.n - b.n)
    .map(({ item }) => item);
const isoOf = (time: number): string => new Date(time).toISOString();
const isWithin = (time: number, spans: readonly (readonly [number, number])[]): boolean =>
  spans.some(([start, end]) => time >= start && time < end);

/** The radar is dead, or sees nothing although it is there. */
const DEAD = [
  [at(2, '06:00'), at(2, '11:30')],
  [at(6, '07:10'), at(6, '07:55')],
] as const;
const BLIND = [[at(4, '11:58'), at(4, '17:03')]] as const;
/** It says that it is broken, and sends passages. */
const BROKEN = [[at(5, '08:00'), at(5, '10:07')]] as const;
/** Days of which it does not say that it sent everything. */
const UNOBSERVED = [2, 3, 6];
const CAMERA_DEAD = [[at(0), at(4)]] as const;

interface Passage {
  readonly key: string;
  readonly at: number;
  readonly counts: boolean;
  readonly direction: string;
  readonly lane: number;
  readonly word?: string;
  readonly code?: string;
  readonly scheme?: string;
  readonly speed?: number;
}

const KINDS = [
  ...Array.from({ length: 8 }, () => ({ scheme: 'FHWA13', code: '2' })),
  { scheme: 'FHWA13', code: '9' },
  { scheme: 'FHWA13', code: '5' },
  { scheme: 'BASIC', code: 'BUS' },
  { scheme: 'BASIC', code: 'BICYCLE' },
  { word: 'car' },
  { word: 'truck' },
  { word: 'pedestrian' },
  {},
];

const usualAt = (time: number): number => {
  const { hour, weekday } = DateTime.fromMillis(time, { zone });
  const usual = hour < 5 ? 3 : [7, 8, 16, 17].includes(hour) ? 48 : 24;
  return weekday > 5 ? usual / 2 : usual;
};

const passages: Passage[] = [];
for (let time = from; time < until; time += QUARTER_MS)
  for (let n = whole(usualAt(time) / 4 + 1); n > 0; n--) {
    const passed = time + whole(QUARTER_MS);
    if (isWithin(passed, [...DEAD, ...BLIND])) continue;
    const isMorning = DateTime.fromMillis(time, { zone }).hour < 12;
    passages.push({
      key: `radar-${passages.length}`,
      at: passed,
      counts: true,
      direction: random() < (isMorning ? 0.6 : 0.4) ? 'SB' : 'NB',
      lane: 1 + whole(2),
      ...pick(KINDS),
      ...(random() < 0.92 && { speed: random() < 0.01 ? pick([0, 1_999]) : 30 + whole(400) / 10 }),
    });
  }
const violations = passages
  .filter(() => random() < 0.05)
  .map((each) => ({ ...each, key: `${each.key}-v`, at: each.at + 500, counts: false }));
const radarSent = [...passages, ...violations];
const cameraSent = passages.filter((each) => !isWithin(each.at, CAMERA_DEAD));

const observed = Array.from({ length: days }, (_, day) => [at(day), at(day + 1)] as const).filter(
  (_, day) => !UNOBSERVED.includes(day),
);

const deleted = passages.filter(() => random() < 0.006).map(({ key }) => key);

/** Each ninth vehicle is reported twice, and counts once. What is left of a deleted one would count. */
const SLOT_MS = 5 * MINUTE_MS;
const LATER_MS = 400;
const twice = passages.filter(
  ({ key, at: time }, n) => n % 9 === 0 && time % SLOT_MS < SLOT_MS - LATER_MS && !deleted.includes(key),
);
const passageIds = new Set(twice.map(({ key }) => key));

interface Period {
  readonly start: number;
  readonly direction: string;
  readonly lane: number;
  readonly counts: Record<string, number> | null;
  readonly status?: string;
  readonly samples?: number;
  readonly expected?: number;
}

const LOOPS_FAULT = [[at(1, '10:00'), at(1, '14:00')]] as const;
const LOOPS_NULL = [[at(2), at(2, '03:00')]] as const;
const LOOPS_HALF = [[at(3, '09:00'), at(3, '12:00')]] as const;
const LOOPS_ABSENT = [[at(4, '13:00'), at(4, '15:15')]] as const;
const LOOPS_STUCK = [[at(6, '09:00'), at(6, '15:00')]] as const;

const periodAt = (start: number, direction: string, lane: number): Period => {
  const counted = (share: number): number => whole(usualAt(start) * share + 1);
  const isStuck = isWithin(start, LOOPS_STUCK);
  const counts: Record<string, number> = isStuck
    ? { 2: 0 }
    : { 1: counted(0.02), 2: counted(1), 5: counted(0.1), 9: counted(0.05) };
  const period = { start, direction, lane, counts };
  if (isWithin(start, LOOPS_NULL)) return { ...period, counts: null };
  if (lane === 1 && direction === 'NB' && isWithin(start, LOOPS_FAULT)) return { ...period, status: 'FAULT' };
  if (lane === 2 && direction === 'SB' && isWithin(start, LOOPS_HALF))
    return { ...period, samples: 8 + whole(8), expected: 15 };
  return period;
};
const periods: Period[] = [];
for (let start = from; start < until; start += QUARTER_MS)
  for (const direction of ['NB', 'SB'])
    for (const lane of [1, 2])
      if (!isWithin(start, LOOPS_ABSENT)) periods.push(periodAt(start, direction, lane));
const corrected = periods
  .filter(() => random() < 0.01)
  .map((each) => periodAt(each.start, each.direction, each.lane));
const repeated = periods.filter(
  (each) => random() < 0.02 && !corrected.some(({ start }) => start === each.start),
);
const sentPeriods = [...shuffled(periods), ...corrected, ...repeated];

/** The local year before that month. */
const YEAR = 2025;
const [yearFrom, yearUntil] = [YEAR, YEAR + 1].map((year) =>
  DateTime.fromObject({ year }, { zone }).toMillis(),
) as [number, number];
/** Half hours where clocks differ by half an hour. */
const YEAR_SECONDS = isLong ? 1_800 : 3_600;

/** What is not known of a year, by the clock: days of a month, and hours of them. */
interface Hole {
  readonly month: number;
  readonly days: readonly number[];
  readonly hours: readonly [from: number, until: number];
}
const HOLES: Record<string, readonly Hole[]> = {
  'a year with holes': [
    { month: 2, days: [10, 11, 12, 13], hours: [0, 24] },
    { month: 7, days: [6], hours: [0, 5] },
    { month: 11, days: [2], hours: [1, 3] },
  ],
  'a year in which an hour of the week is not known': [
    { month: 3, days: [3, 10, 17, 24, 31], hours: [13, 14] },
    { month: 9, days: Array.from({ length: 14 }, (_, n) => n + 1), hours: [0, 24] },
  ],
};

const yearOf = (holes: readonly Hole[]): Period[] => {
  const sent: Period[] = [];
  for (let start = yearFrom; start < yearUntil; start += YEAR_SECONDS * 1_000) {
    const { month, day, hour } = DateTime.fromMillis(start, { zone });
    const isHole = holes.some(
      (hole) =>
        hole.month === month && hole.days.includes(day) && hour >= hole.hours[0] && hour < hole.hours[1],
    );
    const period = { start, direction: 'NB', lane: 1, counts: { 2: 1 + whole(usualAt(start) * 20) } };
    if (isHole) sent.push({ ...period, counts: null });
    else if (random() < 0.001) sent.push({ ...period, status: 'FAULT' });
    else if (random() < 0.003) sent.push({ ...period, samples: 35 + whole(25), expected: 60 });
    else sent.push(period);
  }
  return sent;
};
const years = Object.fromEntries(Object.entries(HOLES).map(([name, holes]) => [name, yearOf(holes)]));

const register = async (locationId: string, type: string): Promise<{ id: string; apiKey: string }> => {
  const sensor = await ask('sensors.create', { name: type, deviceId: randomUUID(), type, locationId });
  await gantry.pool.query('UPDATE sensors SET created_at = $2 WHERE id = $1', [
    sensor.id,
    new Date(from - DAY_MS),
  ]);
  return sensor;
};
const locate = async (name: string): Promise<string> =>
  (await ask('locations.create', { name: `${name} ${randomUUID()}`, speedLimit: LIMIT })).id;

const eventOf = ({ key, at: time, counts, direction, lane, word, code, scheme, speed }: Passage) => ({
  idempotencyKey: key,
  timestamp: new Date(time).toISOString(),
  eventType: counts ? 'SPEED_DETECTION' : 'TRAFFIC_VIOLATION',
  ...(passageIds.has(key) && { passageId: key }),
  direction,
  lane,
  ...(word && { vehicleType: word }),
  ...(code && { vehicleClass: { scheme, code } }),
  ...(speed !== undefined && { vehicleSpeed: speed }),
});

/** Sends passages by day, the days in no order, and some days again. @returns ids by key */
const sendPassages = async (
  apiKey: string,
  sent: readonly Passage[],
  spans: readonly (readonly [number, number])[],
  toEvent: (passage: Passage) => object,
): Promise<Map<string, string>> => {
  const ids = new Map<string, string>();
  const inOrder = shuffled(Array.from({ length: days }, (_, day) => day));
  for (const day of [...inOrder, ...inOrder.slice(0, 2)]) {
    const within = sent.filter((each) => each.at >= at(day) && each.at < at(day + 1));
    if (within.length === 0) continue;
    const span = spans.find(([start]) => start === at(day));
    const batch = shuffled(within);
    const { success, results } = await gantry.ok('events.ingestBatch', {
      apiKey,
      ...(span && { observed: { from: isoOf(span[0]), until: isoOf(span[1]) } }),
      events: batch.map(toEvent),
    });
    expect(success).toBe(true);
    for (const [n, { key }] of batch.entries()) ids.set(key, results[n].eventId);
  }
  return ids;
};

const report = async () => {
  await ask('system.timezone.updateTimezoneSettings', { timezone: zone });
  const [radarPlace, loopsPlace] = [await locate('Radar'), await locate('Loops')];
  const [radar, camera] = [await register(radarPlace, 'RADAR'), await register(radarPlace, 'ANPR')];
  const ids = await sendPassages(radar.apiKey, radarSent, observed, eventOf);
  await sendPassages(radar.apiKey, twice, [], ({ key, at: time }) => ({
    ...{ idempotencyKey: `${key}-again`, eventType: 'VEHICLE_DETECTION', passageId: key },
    timestamp: isoOf(time + LATER_MS),
  }));
  await sendPassages(camera.apiKey, cameraSent, [], ({ speed: _, ...passage }) => ({
    ...eventOf({ ...passage, at: passage.at + 700, key: `camera-${passage.key}` }),
    eventType: 'PLATE_RECOGNITION',
    licensePlateNumber: passage.key,
  }));
  for (const key of deleted) await ask('events.delete', { id: ids.get(key) });
  for (const [status, time] of BROKEN.flatMap(([start, end]) => [
    ['ERROR', start] as const,
    ['OFFLINE', end] as const,
  ]))
    await gantry.pool.query(
      `INSERT INTO sensor_status_history (sensor_id, to_status, at, reason) VALUES ($1, $2, $3, 'simulated')`,
      [radar.id, status, new Date(time)],
    );
  await sendPeriods(loopsPlace, sentPeriods, 900);
  await rollUpAllTraffic(gantry, 20_000);
  return { radar: radarPlace, loops: loopsPlace };
};

const sendPeriods = async (locationId: string, sent: readonly Period[], seconds: number): Promise<void> => {
  const { apiKey } = await register(locationId, 'RADAR');
  for (let n = 0; n < sent.length; n += 1_000) {
    const { success } = await gantry.ok('counts.ingest', {
      apiKey,
      periods: sent
        .slice(n, n + 1_000)
        .map(({ start, direction, lane, counts, status, samples, expected }) => ({
          start: isoOf(start),
          seconds,
          direction,
          lane,
          ...(counts ? { byClass: { scheme: 'FHWA13', counts } } : { volume: null }),
          ...(status && { status }),
          ...(samples !== undefined && { samples, expectedSamples: expected }),
        })),
    });
    expect(success).toBe(true);
  }
};

const range = { startDate: isoOf(from), endDate: isoOf(until - 1) };

type Answer = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: answers are not typed here.
type Answered = any;
const countsOf = async (place: object, by: readonly string[], interval: string, flags: string) =>
  (await ask('traffic.getCounts', { ...place, ...range, interval, by, flags })).bins.map(
    ({ start, status, coverage, volume, cells }: Answered) => [
      Date.parse(start),
      status,
      Math.round(coverage * 1e4) / 1e4,
      volume,
      Object.fromEntries(
        (cells as { volume: number }[]).map((cell) => [
          by.map((name) => cell[name as never]).join(' '),
          cell.volume,
        ]),
      ),
    ],
  );
const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
const peakOf = (peak: Answered) => [
  peak.window,
  peak.start === null ? null : Date.parse(peak.start) || minutesOf(peak.start) * MINUTE_MS,
  peak.volume,
  peak.peakHourFactor,
  peak.k,
  peak.d,
  peak.dDirection,
  peak.t,
  peak.validBins,
  Object.fromEntries(
    (peak.by as { direction: string; volume: number; peakHourFactor: number }[]).map((part) => [
      part.direction,
      [part.volume, part.peakHourFactor],
    ]),
  ),
];

const answersOf = async (locationId: string, flags: string): Promise<Answer> => {
  const place = { locationId };
  const counts = {
    quarters: await countsOf(place, ['direction', 'lane', 'class'], '15min', flags),
    days: await countsOf(place, ['direction', 'lane'], 'day', flags),
  };
  if (flags === 'include') return counts;
  const peaks = await ask('traffic.getPeakHours', { ...place, ...range, by: ['direction'] });
  const volumes = await ask('traffic.getDailyVolumes', { ...place, ...range });
  const mean = ({ value, n }: { value: number; n: number }) => [value, n];
  return {
    ...counts,
    peakHours: {
      days: peaks.days.map(({ date, windows }: { date: string; windows: never[] }) => [
        date,
        windows.map(peakOf),
      ]),
      average: peaks.average.windows.map(peakOf),
    },
    dailyVolumes: {
      days: volumes.days.map(({ date, volume, status }: Answer) => [date, volume, status]),
      adt: mean(volumes.adt),
      awdt: mean(volumes.awdt),
      weekendAdt: mean(volumes.weekendAdt),
    },
  };
};

const speedsOf = async (locationId: string, units: string): Promise<Answer> => {
  const study = await ask('traffic.getSpeedStudy', { locationId, ...range, units });
  const { n, mean, sd, v15, v50, v85, v95, v98, max, limit, pace, over, v85Confidence } = study;
  return {
    ...{ n, mean, sd, v15, v50, v85, v95, v98, max, limit },
    pace: [pace.from, pace.share, pace.below],
    over: over.map(({ share }: { share: number }) => share),
    v85Confidence: [v85Confidence.low, v85Confidence.high],
  };
};

const flowOf = async (locationId: string): Promise<Answer> => {
  const ofInterval = (interval: string) => ask('traffic.getFlow', { locationId, ...range, interval });
  const point = (start: string | undefined, each: Answered) => [
    start === undefined ? from : Date.parse(start),
    each.status,
    Math.round(each.coverage * 1e4) / 1e4,
    each.volume,
    each.isComplete,
    each.measured,
    each.meanSpeed,
    each.shareOverLimit,
  ];
  const [hours, byDay] = [await ofInterval('60min'), await ofInterval('day')];
  const { peakHour, peakHourFactor } = hours;
  return {
    hours: hours.points.map((each: Answered) => point(each.start, each)),
    days: byDay.points.map((each: Answered) => point(each.start, each)),
    whole: point(undefined, byDay),
    peak: [Date.parse(peakHour.start), peakHour.volume, peakHourFactor],
  };
};

const annualOf = async (locationId: string): Promise<Answer> => {
  const asked = { locationId, year: YEAR };
  const averages: Answer = {};
  for (const method of ['FHWA', 'AASHTO', 'SIMPLE'])
    for (const allowMissing of [0, 1]) {
      const { value, n, status } = await ask('traffic.getAadt', { ...asked, method, allowMissing });
      averages[`${method} ${allowMissing}`] = [value, n, status];
    }
  const { months } = await ask('traffic.getAadt', asked);
  const { months: factors } = await ask('traffic.getFactors', asked);
  const { hours, k30, k50, k100, validHours } = await ask('traffic.getDesignHours', asked);
  return {
    ...averages,
    months: months.map(({ value }: Answer) => value),
    factors: factors.map(({ factor }: Answer) => factor),
    design: [
      hours.map(({ start, volume }: { start: string; volume: number }) => [Date.parse(start), volume]),
      [k30, k50, k100],
      validHours,
    ],
  };
};

/** Runs the program beside the service, which would not answer otherwise. */
const recompute = async (input: string): Promise<string> => {
  const running = promisify(execFile)('python3', [program], { maxBuffer: 1e9 });
  running.child.stdin?.end(input);
  const { stdout, stderr } = await running;
  expect(stderr).toBe('');
  return stdout;
};

/** Reviews as [place, from, until, decision]. */
const REVIEWS = [
  ['radar', at(7, '09:00'), at(7, '11:00'), 'REJECT'],
  ['loops', at(6, '09:00'), at(6, '12:00'), 'ACCEPT'],
] as const;

it.runIf(hasPython)(
  'the figures of a month and of a year are those of another program, to the last digit',
  async () => {
    const places = await report();
    const cases = [
      { name: 'all data', exclude: false, reviews: [] },
      { name: 'by rules', exclude: true, reviews: [] },
      { name: 'reviewed', exclude: true, reviews: REVIEWS },
    ];
    const input = {
      ...{ zone, from, until, now: Date.now(), limit: LIMIT, cases },
      radar: { events: radarSent, observed, broken: BROKEN, deleted },
      loops: { periods: sentPeriods, seconds: 900 },
      year: [yearFrom, yearUntil],
      years: Object.fromEntries(
        Object.entries(years).map(([name, sent]) => [name, { periods: sent, seconds: YEAR_SECONDS }]),
      ),
    };
    const expected = JSON.parse(await recompute(JSON.stringify(input)));
    for (const { name, exclude, reviews } of cases) {
      for (const [place, start, end, decision] of reviews)
        await ask('traffic.reviewData', {
          locationId: places[place],
          startDate: isoOf(start),
          endDate: isoOf(end - 1),
          decision,
          reason: 'Known from the road',
        });
      for (const place of ['radar', 'loops'] as const) {
        const wanted = expected[`${name}, ${place}`];
        const answers = await answersOf(places[place], exclude ? 'exclude' : 'include');
        for (const [figure, answer] of Object.entries(answers))
          expect.soft(answer, `${figure} of ${place}, ${name}`).toEqual(wanted[figure]);
        if (exclude)
          expect.soft(await flowOf(places[place]), `flow of ${place}, ${name}`).toEqual(wanted.flow);
        if (place === 'radar' && exclude)
          for (const units of ['KMH', 'MPH'])
            expect
              .soft(await speedsOf(places.radar, units), `${units}, ${name}`)
              .toEqual(wanted[`speeds ${units}`]);
      }
    }
    for (const [name, sent] of Object.entries(years)) {
      const locationId = await locate(name);
      await sendPeriods(locationId, sent, YEAR_SECONDS);
      expect.soft(await annualOf(locationId), name).toEqual(expected[name]);
    }
  },
  300_000,
);
