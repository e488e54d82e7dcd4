import { randomUUID } from 'node:crypto';
import { DAY_MS, HOUR_MS } from '@gantry/contract/durations';
import type { Event, EventFilter, Severity } from '@gantry/contract/events';
import { severities } from '@gantry/contract/values';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { rollUpCounts } from '../src/events/counts/roll-up.ts';
import { matchesFilter } from '../src/events/matches.ts';
import { matchesPlace, spansAtHours } from '../src/events/place-and-time.ts';
import { findPlaces } from '../src/events/places-store.ts';
import { createDatabase } from '../src/platform/database/pool.ts';
import { eventually, sharedGantry, untilBegun } from './harness.ts';
import { openStream } from './sse.ts';
import { lengthOf } from './test-length.ts';

// Finding events by speed, excess over the limit, severities, hours, days of the week, tags and roads, against a naive
// implementation that knows how the sensors and locations were set up.

const gantry = await sharedGantry({ config: { WEBHOOK_ALLOW_HOSTS: '127.0.0.1' } });
const token = await gantry.tokenFor('ADMIN');
const db = createDatabase(gantry.pool);

/** One zone after another: +05:45, clocks that are changed by half an hour, and by an hour, and none. */
const ZONES = ['Asia/Kathmandu', 'Australia/Lord_Howe', 'Europe/Vienna', 'UTC'] as const;

interface Place {
  readonly road: string | null;
  readonly kilometre: number | null;
  /** km/h, and since when (Unix milliseconds). */
  readonly limits: readonly { readonly since: number; readonly limit: number | null }[];
}
const CHANGE = Date.UTC(2026, 2, 15, 10);
const always = (limit: number | null) => [{ since: Number.NEGATIVE_INFINITY, limit }];
const PLACES: readonly Place[] = [
  { road: 'A2', kilometre: 10.5, limits: always(50) },
  { road: 'a2', kilometre: 12, limits: [...always(80), { since: CHANGE, limit: 60 }] },
  { road: 'A2', kilometre: null, limits: always(null) },
  { road: 'B7', kilometre: -3, limits: [...always(null), { since: CHANGE, limit: 30.5 }] },
];
const SENSORS = [
  { place: 0, tags: ['North', 'bus lane'] },
  { place: 1, tags: ['NORTH'] },
  { place: 1, tags: [] },
  { place: 2, tags: ['School'] },
  { place: 3, tags: ['school', 'north'] },
  { place: null, tags: ['Alone'] },
] as const;

interface Stored {
  readonly id: string;
  readonly time: number;
  readonly sensor: number;
  readonly speed: number | null;
  readonly severity: Severity | null;
  readonly lane: number | null;
  readonly processed: boolean;
}

const sensorIds: string[] = [];
const locationIds: string[] = [];
let stored: Stored[] = [];

/** Around both changes of the clocks of the zones, the change of the limits, and at any time. */
const times = fc.oneof(
  fc.integer({ min: Date.UTC(2026, 2, 28, 22), max: Date.UTC(2026, 2, 29, 4) }),
  fc.integer({ min: Date.UTC(2025, 9, 25, 22), max: Date.UTC(2025, 9, 26, 4) }),
  fc.integer({ min: Date.UTC(2026, 3, 4, 12), max: Date.UTC(2026, 3, 4, 18) }),
  fc.integer({ min: Date.UTC(2025, 9, 4, 12), max: Date.UTC(2025, 9, 4, 18) }),
  fc.constantFrom(CHANGE - 1, CHANGE, CHANGE + 1),
  fc.integer({ min: Date.UTC(2025, 8), max: Date.UTC(2026, 4) }),
);
const seeds = fc.record({
  time: times,
  sensor: fc.nat(SENSORS.length - 1),
  speed: fc.option(fc.constantFrom(0, 30, 49.9, 50, 60.5, 80, 90, 110)),
  severity: fc.option(fc.constantFrom(...severities)),
  lane: fc.option(fc.integer({ min: 1, max: 3 })),
  isMarked: fc.boolean(),
});

beforeAll(async () => {
  for (const { road, kilometre, limits } of PLACES) {
    const [first, second] = limits;
    const { id } = await gantry.ok(
      'locations.create',
      { name: randomUUID(), speedLimit: first?.limit, road, kilometre },
      { token },
    );
    locationIds.push(id);
    if (second) {
      const change = { id, speedLimit: second.limit, validFrom: new Date(second.since).toISOString() };
      await gantry.ok('locations.update', change, { token });
    }
  }
  const sample = fc.sample(seeds, { numRuns: 400, seed: 45 });
  for (const [n, { place, tags }] of SENSORS.entries()) {
    const { id, apiKey } = await gantry.ok(
      'sensors.create',
      {
        name: `Finder ${n}`,
        deviceId: randomUUID(),
        type: 'RADAR',
        tags,
        locationId: place === null ? undefined : locationIds[place],
      },
      { token },
    );
    sensorIds.push(id);
    const own = sample.filter(({ sensor }) => sensor === n);
    const { results } = await gantry.ok<{ results: { eventId: string }[] }>('events.ingestBatch', {
      apiKey,
      events: own.map(({ time, speed, severity, lane }) => ({
        eventType: 'SPEED_DETECTION',
        timestamp: new Date(time).toISOString(),
        vehicleSpeed: speed,
        severity,
        lane,
      })),
    });
    for (const [at, { isMarked, ...seed }] of own.entries()) {
      const id = results[at]?.eventId ?? '';
      if (isMarked) await gantry.ok('events.markAsProcessed', { id }, { token });
      stored.push({ ...seed, id, processed: isMarked });
    }
  }
  await rollUpCounts(db, 10_000);
  // The severity of an event without one follows from the limit, which other tests are about.
  const known = await gantry.pool.query<{ id: string; severity: number | null }>(
    'SELECT id, severity FROM events',
  );
  const severityOf = new Map(
    known.rows.map(({ id, severity }) => [id, severities[(severity ?? 0) - 1] ?? null]),
  );
  stored = stored.map((event) => ({ ...event, severity: severityOf.get(event.id) ?? null }));
}, 120_000);

// ── The naive implementation ────────────────────────────────────────────────────────────────────────

const formats = new Map<string, Intl.DateTimeFormat>();
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const clockOf = (time: number, zone: string): { hour: number; weekday: number } => {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      weekday: 'short',
      hour: '2-digit',
      hourCycle: 'h23',
    });
    formats.set(zone, format);
  }
  const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]));
  return { hour: Number(parts.get('hour')), weekday: DAYS.indexOf(parts.get('weekday') ?? '') };
};
const limitAt = (place: Place | undefined, time: number): number | null =>
  place?.limits.filter(({ since }) => since <= time).at(-1)?.limit ?? null;

type Filter = Pick<
  EventFilter,
  | 'severities'
  | 'minSpeed'
  | 'maxSpeed'
  | 'minExcess'
  | 'hours'
  | 'weekdays'
  | 'sensorTags'
  | 'road'
  | 'fromKilometre'
  | 'toKilometre'
  | 'lane'
  | 'processed'
> & { readonly startDate?: string | undefined; readonly endDate?: string | undefined };

const meets = (event: Stored, filter: Filter, zone: string): boolean => {
  const sensor = SENSORS[event.sensor];
  const place = sensor?.place === null ? undefined : PLACES[sensor?.place ?? 0];
  const limit = limitAt(place, event.time);
  const { hour, weekday } = clockOf(event.time, zone);
  const speed = event.speed ?? Number.NaN;
  const isOnRoad =
    filter.road === undefined ||
    (place?.road?.toLowerCase() === filter.road.toLowerCase() &&
      (filter.fromKilometre === undefined || (place.kilometre ?? Number.NaN) >= filter.fromKilometre) &&
      (filter.toKilometre === undefined || (place.kilometre ?? Number.NaN) <= filter.toKilometre));
  const tags = sensor?.tags.map((tag) => tag.toLowerCase()) ?? [];
  return (
    (filter.severities === undefined || filter.severities.some((each) => each === event.severity)) &&
    (filter.minSpeed === undefined || speed >= filter.minSpeed) &&
    (filter.maxSpeed === undefined || speed <= filter.maxSpeed) &&
    (filter.minExcess === undefined || (limit !== null && speed >= limit + filter.minExcess)) &&
    (filter.hours === undefined || filter.hours.includes(hour)) &&
    (filter.weekdays === undefined || filter.weekdays.includes(weekday)) &&
    (filter.sensorTags === undefined || filter.sensorTags.some((tag) => tags.includes(tag.toLowerCase()))) &&
    isOnRoad &&
    (filter.lane === undefined || event.lane === filter.lane) &&
    (filter.processed === undefined || event.processed === filter.processed) &&
    (filter.startDate === undefined || event.time >= Date.parse(filter.startDate)) &&
    (filter.endDate === undefined || event.time <= Date.parse(filter.endDate))
  );
};

const someOf = <Value>(values: readonly Value[]) =>
  fc.subarray([...values], { minLength: 1, maxLength: Math.min(values.length, 12) });
const values = fc.record({
  severities: someOf(severities),
  minSpeed: fc.constantFrom(0, 30, 49.9, 50.1),
  maxSpeed: fc.constantFrom(60.5, 80, 200),
  minExcess: fc.constantFrom(0, 0.5, 10, 20, 30),
  hours: someOf(Array.from({ length: 24 }, (_, hour) => hour)),
  weekdays: someOf([0, 1, 2, 3, 4, 5, 6]),
  sensorTags: someOf(['north', 'SCHOOL', 'Bus Lane', 'alone', 'nobody']),
  road: fc.constantFrom('A2', 'a2', 'b7', 'C1'),
  lane: fc.integer({ min: 1, max: 3 }),
  processed: fc.boolean(),
  startDate: times.map((time) => new Date(time).toISOString()),
});
const kilometres = fc.constantFrom(
  {},
  { fromKilometre: 11 },
  { toKilometre: 10.5 },
  { fromKilometre: -5, toKilometre: 12 },
);
/** Up to three filters at once: more would find nothing most of the time. Hours are among them half of the time. */
const filters: fc.Arbitrary<Filter> = fc
  .tuple(
    values,
    fc.subarray(
      ['severities', 'minSpeed', 'maxSpeed', 'minExcess', 'weekdays', 'sensorTags', 'road', 'lane'] as const,
      { maxLength: 2 },
    ),
    fc.constantFrom('hours', 'hours', 'processed', 'startDate'),
    kilometres,
  )
  .map(([all, names, other, between]) => ({
    ...Object.fromEntries([...names, other].map((name) => [name, all[name]])),
    ...(names.includes('road') && between),
  }));
const sorts = fc.record({
  sortBy: fc.constantFrom('timestamp', 'createdAt', 'eventType', 'severity'),
  sortOrder: fc.constantFrom('asc', 'desc'),
});

const setZone = async (timezone: string): Promise<void> => {
  await gantry.ok('system.timezone.updateTimezoneSettings', { timezone }, { token });
  await eventually(
    () => gantry.ok<{ timezone: string }>('system.timezone.getTimezoneSettings', undefined, { token }),
    (settings) => settings.timezone === timezone,
  );
};

interface Page {
  readonly events: { readonly id: string; readonly severity: Severity | null }[];
  readonly total: number;
}
const list = (input: object): Promise<Page> => gantry.ok('events.getAll', input, { token });

describe('finding events', () => {
  it.each(ZONES)('finds what a naive search finds, in any order and page, in %s', async (zone) => {
    await setZone(zone);
    await fc.assert(
      fc.asyncProperty(filters, sorts, fc.nat(60), async (filter, sort, skip) => {
        const wanted = stored.filter((event) => meets(event, filter, zone));
        const page = await list({ ...filter, ...sort, skip, take: 100 });
        expect(page.total).toBe(wanted.length);
        expect(page.events).toHaveLength(Math.max(0, Math.min(100, wanted.length - skip)));
        const ids = new Set(wanted.map(({ id }) => id));
        expect(page.events.filter(({ id }) => !ids.has(id))).toEqual([]);
        if (sort.sortBy !== 'timestamp') return;
        const inOrder = [...ids].sort();
        if (sort.sortOrder === 'desc') inOrder.reverse();
        expect(page.events.map(({ id }) => id)).toEqual(inOrder.slice(skip, skip + 100));
      }),
      { numRuns: lengthOf({ gate: 25, full: 60 }) },
    );
  });

  it('finds the same in memory, as streams do', async () => {
    const zone = 'Australia/Lord_Howe';
    const { rows } = await gantry.pool.query<{ id: string; location_id: string | null }>(
      'SELECT id, location_id FROM events',
    );
    const locationOf = new Map(rows.map((row) => [row.id, row.location_id]));
    await fc.assert(
      fc.asyncProperty(filters, async ({ startDate: _, ...filter }) => {
        const asked = { ...filter, sensorTags: filter.sensorTags?.map((tag) => tag.toLowerCase()) };
        const places = await findPlaces(db, asked);
        const locationIdOf = ({ id }: Event) => locationOf.get(id) ?? null;
        const [matches, isThere] = [matchesFilter(asked), matchesPlace(asked, places, zone, locationIdOf)];
        for (const event of stored) {
          const seen = {
            id: event.id,
            timestamp: new Date(event.time),
            sensorId: sensorIds[event.sensor] ?? null,
            vehicleSpeed: event.speed,
            severity: event.severity,
            processed: event.processed,
            ...(event.lane !== null && { lane: event.lane }),
          } as Event;
          expect(matches(seen) && isThere(seen)).toBe(meets(event, filter, zone));
        }
      }),
      { numRuns: lengthOf({ gate: 50, full: 100 }) },
    );
  });

  it('follows a correction of a limit in the past', async () => {
    const before = await list({ minExcess: 20 });
    const id = locationIds[0];
    const since = new Date(Date.UTC(2025, 8)).toISOString();
    await gantry.ok('locations.update', { id, speedLimit: 20, validFrom: since }, { token });
    const after = await list({ minExcess: 20 });
    expect(after.total).toBeGreaterThan(before.total);
    await gantry.ok('locations.update', { id, speedLimit: 50, validFrom: since }, { token });
    expect((await list({ minExcess: 20 })).total).toBe(before.total);
  });

  it('streams only the events that it would find', async () => {
    await setZone('UTC');
    const input = {
      road: 'a2',
      toKilometre: 11,
      minExcess: 10,
      severities: ['CRITICAL', 'LOW'],
      sensorTags: ['north'],
    };
    const stream = await openStream(gantry.url, 'events.onIngested', { token, input });
    await untilBegun(stream);
    const events = () => stream.messages.flatMap(({ data }) => data.event ?? []);
    const { apiKey } = await gantry.ok('sensors.getById', { id: sensorIds[0] }, { token });
    const send = (vehicleSpeed: number, severity: string) =>
      gantry.ingest(apiKey, { eventType: 'SPEED_DETECTION', vehicleSpeed, severity });
    await send(59.9, 'LOW');
    await send(80, 'HIGH');
    const found = [await send(60, 'LOW'), await send(90, 'CRITICAL')];
    await eventually(
      async () => events().length,
      (count) => count >= 2,
    );
    stream.close();
    expect(events().map(({ id }) => id)).toEqual(found);
    expect(Object.keys(events()[0])).not.toContain('locationId');
    for (const id of found) await gantry.ok('events.delete', { id }, { token });
  });

  it('tells webhooks of the events with the lane and speed of their filter', async () => {
    const filter = { lane: 2, minSpeed: 70, maxSpeed: 80 };
    const hook = { url: 'http://127.0.0.1:9/', kinds: ['event.ingested'], filter };
    const { id } = await gantry.ok('webhooks.create', hook, { token });
    const { apiKey } = await gantry.ok('sensors.getById', { id: sensorIds[0] }, { token });
    const send = (lane: number, vehicleSpeed: number) =>
      gantry.ingest(apiKey, { eventType: 'SPEED_DETECTION', lane, vehicleSpeed });
    await send(1, 75);
    await send(2, 81);
    const wanted = await send(2, 75);
    const { rows } = await eventually(
      () =>
        gantry.pool.query<{ id: string }>(
          `SELECT body::jsonb #>> '{data,id}' AS id FROM webhook_deliveries WHERE webhook_id = $1`,
          [id],
        ),
      (found) => found.rows.length > 0,
    );
    expect(rows).toEqual([{ id: wanted }]);
    await gantry.ok('webhooks.delete', { id }, { token });
  });

  it('no longer finds a deleted event', async () => {
    await setZone('UTC');
    const [first] = (await list({ hours: [22, 23, 0, 1, 2, 3], minSpeed: 30 })).events;
    const before = (await list({ hours: [22, 23, 0, 1, 2, 3] })).total;
    await gantry.ok('events.delete', { id: first?.id }, { token });
    stored = stored.filter(({ id }) => id !== first?.id);
    expect((await list({ hours: [22, 23, 0, 1, 2, 3] })).total).toBe(before - 1);
  });

  it('lists nothing for hours that are not in the range', async () => {
    const day = { startDate: '2026-03-10T08:00:00Z', endDate: '2026-03-10T09:59:59.999Z' };
    expect(await list({ ...day, hours: [12] })).toMatchObject({ events: [], total: 0 });
    expect(await list({ startDate: '2031-01-01', hours: [12] })).toMatchObject({ events: [], total: 0 });
  });

  it('is a query of /v1, too', async () => {
    const query = 'hours=22&hours=23&minSpeed=49.9&severities=LOW&severities=HIGH&sensorTags=North';
    const response = await fetch(`${gantry.url}/v1/events?${query}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { total } = (await response.json()) as Page;
    const filter = { hours: [22, 23], minSpeed: 49.9, severities: ['LOW', 'HIGH'], sensorTags: ['north'] };
    expect(total).toBe((await list(filter)).total);
  });

  it('takes an empty list for no filter', async () => {
    const all = await list({});
    expect(await list({ hours: [], weekdays: [], severities: [], sensorTags: [], road: ' ' })).toMatchObject({
      total: all.total,
    });
  });

  it.each([
    [{ minSpeed: 60, maxSpeed: 50 }, 'maxSpeed', 'swap minSpeed and maxSpeed'],
    [{ minSpeed: -1 }, 'minSpeed', 'from 0 to 2000'],
    [{ maxSpeed: 2001 }, 'maxSpeed', 'from 0 to 2000'],
    [{ minExcess: '30' }, 'minExcess', 'above the limit'],
    [{ hours: [24] }, 'hours.0', 'from 0 to 23'],
    [{ hours: 14 }, 'hours', ''],
    [{ weekdays: [7] }, 'weekdays.0', '0 (Sunday) to 6'],
    [{ severities: ['URGENT'] }, 'severities.0', 'LOW, MEDIUM, HIGH, CRITICAL'],
    [{ sensorTags: ['x'.repeat(41)] }, 'sensorTags.0', '40 characters'],
    [{ fromKilometre: 3 }, 'fromKilometre', 'name the road'],
    [{ road: 'A2', fromKilometre: 3, toKilometre: 2 }, 'toKilometre', 'swap fromKilometre and toKilometre'],
    [{ road: 'A2', fromKilometre: 1e6 }, 'fromKilometre', '99999.999'],
  ])('refuses %j and says what would be right', async (filter, path, says) => {
    const { status, data, message } = await gantry.refusal('events.getAll', filter, { token });
    expect(status).toBe(400);
    expect(JSON.stringify([message, data])).toContain(says);
    expect(data.issues[0].path).toBe(path);
  });

  it('divides a day at the hours that clocks show', () => {
    const spansOf = (from: number, zone: string, hours: number[]) =>
      spansAtHours({ from, until: from + DAY_MS }, { hours }, zone).map((span) => [
        (span.from - from) / HOUR_MS,
        (span.until - from) / HOUR_MS,
      ]);
    const lengths = (zone: string, hours: number[]) => spansOf(Date.UTC(2026, 2, 29), zone, hours);
    // Clocks were put forward at one minute past midnight.
    expect(spansOf(Date.UTC(2010, 2, 14), 'America/St_Johns', [0])).toEqual([[3.5, 3.5 + 1 / 60]]);
    expect(lengths('Europe/Vienna', [2])).toEqual([]);
    expect(lengths('Europe/Vienna', [1, 3])).toEqual([
      [0, 2],
      [23, 24],
    ]);
    expect(lengths('Asia/Kathmandu', [6])).toEqual([[0.25, 1.25]]);
  });
});
