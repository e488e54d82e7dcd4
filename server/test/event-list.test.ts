import { randomUUID } from 'node:crypto';
import { eventType, severity } from '@gantry/contract/events';
import { role } from '@gantry/contract/permissions';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';
import { lengthOf } from './test-length.ts';

// Some hundred events, and an independent implementation of the expected result of each query.

interface EventJson {
  id: string;
  eventType: string;
  timestamp: string;
  sensorId: string;
  processed: boolean;
  archived: boolean;
  violationType: string | null;
  licensePlateNumber: string | null;
  vehicleType: string | null;
  locationName: string | null;
  severity: (typeof severity.options)[number] | null;
  createdAt: string;
}

interface Filters {
  eventType?: string;
  sensorId?: string;
  startDate?: string;
  endDate?: string;
  processed?: boolean;
  archived?: boolean;
  violationType?: string;
  licensePlateNumber?: string;
  vehicleType?: string;
  locationName?: string;
}

const ZONE = 'America/New_York';
const PLATES = ['B-GX 1234', 'b gx1234', 'BGX 12', 'A%B', 'A_B', 'A\\B', 'AXB', 'МО 77-АВ', 'M-Ü 1', '%'];
const VIOLATIONS = ['SPEEDING', 'Speeding', 'RED_LIGHT', 'tail%gating', 'Überholen'];
const VEHICLES = ['CAR', 'Car', 'TRUCK', 'bus'];
const ADDRESSES = ['Main Street 5', 'MAIN STREET 5', 'Brücke_1', 'Brücke 1'];
/** Two days on which clocks change, the end of a year, a leap day, and times that several events share. */
const MOMENTS = [
  '2026-03-08T04:59:59.999Z',
  '2026-03-08T05:00:00.000Z',
  '2026-03-09T03:59:59.999Z',
  '2026-03-09T04:00:00.000Z',
  '2025-11-02T03:59:59.999Z',
  '2025-11-02T04:00:00.000Z',
  '2025-11-03T04:59:59.999Z',
  '2025-11-03T05:00:00.000Z',
  '2024-02-29T12:00:00.000Z',
  '2025-12-31T23:59:59.999Z',
  '2026-01-01T00:00:00.000Z',
  '2026-01-01T00:00:00.001Z',
].map((iso) => Date.parse(iso));

const maybe = <Value>(...values: Value[]) => fc.option(fc.constantFrom(...values));
const aMoment = fc.oneof(
  fc.constantFrom(...MOMENTS),
  fc.integer({ min: Date.parse('2025-10-30Z'), max: Date.parse('2026-03-12Z') }),
);
const aSeed = fc.record({
  sensor: fc.nat(2),
  mark: fc.nat(5),
  event: fc.record({
    eventType: fc.constantFrom(...eventType.options),
    timestamp: aMoment.map((time) => new Date(time).toISOString()),
    violationType: maybe(...VIOLATIONS),
    licensePlateNumber: maybe(...PLATES),
    vehicleType: maybe(...VEHICLES),
    location: maybe(...ADDRESSES.map((address) => ({ latitude: 1, longitude: 2, address }))),
    severity: maybe(...severity.options),
  }),
});

let sensorIds: string[];
let all: EventJson[];

const list = (input: object): Promise<{ events: EventJson[]; total: number; pageCount: number }> =>
  gantry.ok('events.getAll', input, { token });
const idsOf = (events: readonly EventJson[]) => events.map(({ id }) => id);

/** Every event, page by page. */
const walk = async (input: object, take: number): Promise<EventJson[]> => {
  const events: EventJson[] = [];
  for (;;) {
    const page = await list({ ...input, skip: events.length, take });
    events.push(...page.events);
    if (page.events.length < take) return events;
  }
};

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');
beforeAll(async () => {
  await gantry.ok(
    'system.timezone.updateTimezoneSettings',
    { timezone: ZONE },
    { token: await gantry.tokenFor('ADMIN') },
  );
  const sensors = await Promise.all(
    [1, 2, 3].map((n) =>
      gantry.ok('sensors.create', { name: `Mast ${n}`, deviceId: randomUUID(), type: 'CAMERA' }, { token }),
    ),
  );
  sensorIds = sensors.map(({ id }) => id);
  const seeds = fc.sample(aSeed, { numRuns: 300, seed: 20_260_131 });
  for (const [n, { id, apiKey }] of sensors.entries()) {
    const mine = seeds.filter(({ sensor }) => sensor === n);
    const { results } = await gantry.ok('events.ingestBatch', {
      apiKey,
      events: mine.map(({ event }) => event),
    });
    expect(id).toBe(sensorIds[n]);
    expect(results).toEqual(mine.map(() => expect.objectContaining({ eventId: expect.any(String) })));
    await Promise.all(
      mine.map(async ({ mark }, position) => {
        const one = { id: results[position].eventId };
        if (mark < 2) await gantry.ok('events.markAsProcessed', one, { token });
        if (mark === 1 || mark === 2) await gantry.ok('events.markAsArchived', one, { token });
      }),
    );
  }
  all = await walk({}, 100);
});

// ── The independent implementation ──────────────────────────────────────────────────────────────────

// Creating a format takes longer than using it a hundred times.
const localDays = new Intl.DateTimeFormat('sv-SE', { timeZone: ZONE });
const localDay = (iso: string): string => localDays.format(new Date(iso));
const isAfterStart = (event: EventJson, start: string): boolean =>
  start.length === 10 ? localDay(event.timestamp) >= start : Date.parse(event.timestamp) >= Date.parse(start);
const isBeforeEnd = (event: EventJson, end: string): boolean =>
  end.length === 10 ? localDay(event.timestamp) <= end : Date.parse(event.timestamp) <= Date.parse(end);

const bare = (plate: string) => plate.replace(/[^\p{L}\p{N}*?]/gu, '').toUpperCase();
const quote = (text: string) =>
  text.replace(/[^\p{L}\p{N}]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
const fitsPlate = (plate: string | null, filter: string): boolean =>
  plate !== null && new RegExp(`^${bare(filter).split('*').map(quote).join('.*')}$`, 'u').test(bare(plate));
const sameText = (value: string | null, filter: string): boolean =>
  value?.toLowerCase() === filter.trim().toLowerCase();

const meets = (event: EventJson, filters: Filters): boolean =>
  (filters.eventType === undefined || event.eventType === filters.eventType) &&
  (filters.sensorId === undefined || event.sensorId === filters.sensorId.toLowerCase()) &&
  (filters.startDate === undefined || isAfterStart(event, filters.startDate)) &&
  (filters.endDate === undefined || isBeforeEnd(event, filters.endDate)) &&
  (filters.processed === undefined || event.processed === filters.processed) &&
  (filters.archived === undefined || event.archived === filters.archived) &&
  (!filters.violationType?.trim() || sameText(event.violationType, filters.violationType)) &&
  (!filters.vehicleType?.trim() || sameText(event.vehicleType, filters.vehicleType)) &&
  (!filters.locationName?.trim() || sameText(event.locationName, filters.locationName)) &&
  (!filters.licensePlateNumber?.trim() || fitsPlate(event.licensePlateNumber, filters.licensePlateNumber));

const sortKeys = {
  timestamp: (event: EventJson) => Date.parse(event.timestamp),
  createdAt: (event: EventJson) => Date.parse(event.createdAt),
  eventType: (event: EventJson) => event.eventType,
  severity: (event: EventJson) => (event.severity === null ? null : severity.options.indexOf(event.severity)),
};
type SortBy = keyof typeof sortKeys;
const SORTS = Object.keys(sortKeys) as SortBy[];

const sorted = (events: readonly EventJson[], sortBy: SortBy, sortOrder: 'asc' | 'desc'): EventJson[] => {
  const sign = sortOrder === 'asc' ? 1 : -1;
  return [...events].sort((a, b) => {
    const [left, right] = [sortKeys[sortBy](a), sortKeys[sortBy](b)];
    if (left === null || right === null) {
      if (left !== right) return left === null ? 1 : -1;
    } else if (left !== right) return left < right ? -sign : sign;
    return a.id < b.id ? -sign : sign;
  });
};

// ── The questions ───────────────────────────────────────────────────────────────────────────────────

const aBound = fc.oneof(
  aMoment.map((time) => new Date(time).toISOString()),
  aMoment.map((time) => localDay(new Date(time).toISOString())),
);
const aFilter: { [Name in keyof Filters]-?: () => fc.Arbitrary<Filters[Name]> } = {
  eventType: () => fc.constantFrom(...eventType.options),
  sensorId: () => fc.constantFrom(...sensorIds, sensorIds[0]?.toUpperCase(), randomUUID(), 'constructor'),
  startDate: () => aBound,
  endDate: () => aBound,
  processed: () => fc.boolean(),
  archived: () => fc.boolean(),
  violationType: () =>
    fc.constantFrom(...VIOLATIONS, ' speeding ', 'ÜBERHOLEN', 'tail_gating', 'speed', '', ' '),
  licensePlateNumber: () =>
    fc.constantFrom(
      ...PLATES,
      'bgx 1-234',
      'BGX*',
      '*12*',
      '*',
      'мо*',
      'a*b',
      '*ü*',
      'A?B',
      '',
      '*%',
      '*\\*',
    ),
  vehicleType: () => fc.constantFrom(...VEHICLES, 'BUS', 'c%', 'ca_', ''),
  locationName: () => fc.constantFrom(...ADDRESSES, 'brücke_1', 'BRÜCKE 1', 'Main Street', '%'),
};
const FILTERS = Object.keys(aFilter) as (keyof Filters)[];

const aQuestion = fc
  .subarray(FILTERS, { maxLength: 3 })
  .chain((names) =>
    fc.record(Object.fromEntries(names.map((name) => [name, aFilter[name]() as fc.Arbitrary<unknown>]))),
  );

const check = async (
  filters: Filters,
  sortBy: SortBy,
  sortOrder: 'asc' | 'desc',
  skip: number,
  take: number,
) => {
  // A range that ends before it starts is refused. It counts as empty here.
  const page = await list({ ...filters, sortBy, sortOrder, skip, take }).catch((error: Error) => {
    if (!error.message.includes('The end is before the start')) throw error;
    return { events: [], total: 0, pageCount: 0 };
  });
  const expected = sorted(
    all.filter((event) => meets(event, filters)),
    sortBy,
    sortOrder,
  );
  expect(idsOf(page.events)).toEqual(idsOf(expected.slice(skip, skip + take)));
  expect(page).toMatchObject({ total: expected.length, pageCount: Math.ceil(expected.length / take) });
  return expected.length;
};

describe('events.getAll', () => {
  it('returns the same as the independent implementation for every query', async () => {
    const anOrder = fc.constantFrom('asc' as const, 'desc' as const);
    await fc.assert(
      fc.asyncProperty(
        aQuestion,
        fc.constantFrom(...SORTS),
        anOrder,
        fc.nat(60),
        fc.integer({ min: 1, max: 100 }),
        async (filters, sortBy, sortOrder, skip, take) => {
          await check(filters as Filters, sortBy, sortOrder, skip, take);
        },
      ),
      { numRuns: lengthOf({ gate: 80, full: 250 }) },
    );
  });

  it.each(FILTERS)('filters by %s alone, and each value finds its own events', async (name) => {
    const values = fc.sample(aFilter[name]() as fc.Arbitrary<never>, { numRuns: 25, seed: 1 });
    const found = new Set<number>();
    for (const value of new Set<never>(values))
      found.add(await check({ [name]: value }, 'timestamp', 'desc', 0, 100));
    expect(found.size).toBeGreaterThan(1);
  });

  it('filters by every pair of filters', async () => {
    for (const [n, one] of FILTERS.entries()) {
      for (const other of FILTERS.slice(n + 1)) {
        const both = fc.record({
          [one]: aFilter[one]() as fc.Arbitrary<unknown>,
          [other]: aFilter[other]() as fc.Arbitrary<unknown>,
        });
        for (const filters of fc.sample(both, { numRuns: lengthOf({ gate: 1, full: 3 }), seed: n }))
          await check(filters, 'timestamp', 'desc', 0, 100);
      }
    }
  });

  it.each(
    SORTS.flatMap(
      (sortBy) =>
        [
          [sortBy, 'asc'],
          [sortBy, 'desc'],
        ] as const,
    ),
  )('sorts by %s %s, page by page, without gaps or repeats', async (sortBy, sortOrder) => {
    const walked = await walk({ sortBy, sortOrder }, 37);
    expect(idsOf(walked)).toEqual(idsOf(sorted(all, sortBy, sortOrder)));
    expect(walked).toHaveLength(300);
  });

  it('returns the newest first by default, fifty at a time', async () => {
    const page = await gantry.ok('events.getAll', undefined, { token });
    expect(idsOf(page.events)).toEqual(idsOf(sorted(all, 'timestamp', 'desc').slice(0, 50)));
    expect(page).toMatchObject({ total: 300, pageCount: 6 });
  });

  it('returns an empty page beyond the end, with the total of the list', async () => {
    for (const skip of [300, 301, 2_147_483_647]) {
      for (const filters of [{}, { sensorId: sensorIds[0] }]) {
        const { total } = await list(filters);
        const page = await list({ ...filters, skip, take: 7, sortBy: 'severity' });
        expect(page).toEqual({ events: [], total, pageCount: Math.ceil(total / 7) });
      }
    }
  });

  it('has no pages when nothing is found', async () => {
    expect(await list({ sensorId: 'no such sensor' })).toEqual({ events: [], total: 0, pageCount: 0 });
    expect(await list({ startDate: '2030-01-01' })).toEqual({ events: [], total: 0, pageCount: 0 });
  });

  it('treats a date as the whole day in the time zone of the service', async () => {
    const onDay = async (day: string) => (await list({ startDate: day, endDate: day, take: 100 })).events;
    const hoursOf = (events: EventJson[]) => {
      const times = events.map(({ timestamp }) => Date.parse(timestamp));
      return (Math.max(...times) - Math.min(...times) + 1) / 3_600_000;
    };
    // The events include the first and the last millisecond of both days: 23 and 25 hours apart.
    expect(hoursOf(await onDay('2026-03-08'))).toBe(23);
    expect(hoursOf(await onDay('2025-11-02'))).toBe(25);
  });

  it('includes both bounds to the millisecond', async () => {
    const total = async (startDate: string, endDate: string) => (await list({ startDate, endDate })).total;
    const at = all.filter(({ timestamp }) => timestamp === '2026-01-01T00:00:00.000Z').length;
    expect(at).toBeGreaterThan(0);
    const [before, moment, after] = [
      '2025-12-31T23:59:59.999Z',
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:00:00.001Z',
    ];
    expect(await total(moment, moment)).toBe(at);
    expect(await total(before, moment)).toBeGreaterThan(at);
    expect(await total(moment, after)).toBeGreaterThan(at);
    await expect(total(after, before)).rejects.toThrow('The end is before the start');
  });

  it('treats a time without an offset as local, and accepts a Date of superjson', async () => {
    const expected = (await list({ startDate: '2026-01-01T00:00:00.000Z' })).total;
    expect((await list({ startDate: '2025-12-31T19:00:00' })).total).toBe(expected);
    const { body } = await gantry.call(
      'events.getAll',
      { startDate: '2026-01-01T00:00:00.000Z' },
      { token, meta: { values: { startDate: ['Date'] } } },
    );
    expect(body.result.data.json.total).toBe(expected);
  });

  it('accepts the earliest and the latest time', async () => {
    expect((await list({ startDate: '0001-01-01', endDate: '9999-12-31' })).total).toBe(300);
    expect((await list({ endDate: '0001-01-01' })).total).toBe(0);
    expect((await list({ startDate: '9999-12-31' })).total).toBe(0);
  });

  it.each([
    { eventType: 'NONSENSE' },
    { eventType: '' },
    { sensorId: '' },
    { sensorId: 7 },
    { startDate: 'yesterday' },
    { endDate: '2026-02-30' },
    { processed: 'true' },
    { archived: 1 },
    { violationType: '\u0000' },
    { violationType: 'v'.repeat(201) },
    { licensePlateNumber: '\ud800' },
    { vehicleType: ['CAR'] },
    { locationName: 'l'.repeat(301) },
    { skip: -1 },
    { skip: 0.5 },
    { skip: 2_147_483_648 },
    { take: 0 },
    { take: 101 },
    { take: '10' },
    { sortBy: 'sensorName' },
    { sortBy: 'constructor' },
    { sortOrder: 'DESC' },
  ])('refuses %j', async (input) => {
    const { status, body } = await gantry.call('events.getAll', input, { token });
    expect(status).toBe(400);
    expect(body.error.json.data.issues[0].path).toBe(Object.keys(input)[0]);
  });
});

describe('events.getRecent', () => {
  const recent = (input?: object): Promise<EventJson[]> => gantry.ok('events.getRecent', input, { token });

  it('returns the latest events, by default ten', async () => {
    const newest = sorted(all, 'timestamp', 'desc');
    expect(await recent()).toEqual(newest.slice(0, 10));
    expect(await recent({ limit: 100 })).toEqual(newest.slice(0, 100));
    expect(await recent({ limit: 1 })).toEqual(newest.slice(0, 1));
  });

  it('returns events of one type on request', async () => {
    const incidents = sorted(all, 'timestamp', 'desc').filter((event) => event.eventType === 'INCIDENT');
    expect(await recent({ eventType: 'INCIDENT', limit: 20 })).toEqual(incidents.slice(0, 20));
  });

  it.each([{ limit: 0 }, { limit: 101 }, { limit: '5' }, { eventType: 'x' }])('refuses %j', async (input) => {
    expect((await gantry.call('events.getRecent', input, { token })).status).toBe(400);
  });
});

describe('events.getEventTypes', () => {
  it('returns all six to anybody', async () => {
    expect(await gantry.ok('events.getEventTypes')).toEqual([
      'TRAFFIC_VIOLATION',
      'SEATBELT_VIOLATION',
      'VEHICLE_DETECTION',
      'SPEED_DETECTION',
      'PLATE_RECOGNITION',
      'INCIDENT',
    ]);
  });
});

describe('the queries of events', () => {
  const READERS = ['events.getAll', 'events.getRecent', 'events.getStats', 'events.getById'];

  it('require a login before the input is checked', async () => {
    for (const procedure of READERS) {
      const { status, body } = await gantry.call(procedure, { take: 'x', id: 7, limit: 'x', startDate: 7 });
      expect([status, body.error.json.message]).toEqual([401, 'No token provided']);
    }
  });

  it.each(role.options)('are open to %s', async (name) => {
    const own = { token: await gantry.tokenFor(name) };
    for (const procedure of READERS) await gantry.ok(procedure, { id: all[0]?.id }, own);
  });
});
