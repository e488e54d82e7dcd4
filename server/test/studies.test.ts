import { randomUUID } from 'node:crypto';
import { DAY_MS, MINUTE_MS } from '@gantry/contract/durations';
import { beforeAll, describe, expect, it } from 'vitest';
import { CITY_DAY, CITY_ZONE, sendCityCounts, sendCityVehicles } from './city-count.ts';
import { eventually, sharedGantry } from './harness.ts';

// How the figures are computed is tested where they are; here, that they are frozen, signed and verified.

const gantry = await sharedGantry({ overrides: { timings: { rollUpTrafficMs: 3_600_000 } } });
const [admin, operator, analyst, viewer] = [
  await gantry.tokenFor('ADMIN'),
  await gantry.tokenFor('OPERATOR'),
  await gantry.tokenFor('ANALYST'),
  await gantry.tokenFor('VIEWER'),
];
const ask = (procedure: string, input: object, token = analyst) => gantry.ok(procedure, input, { token });
const refuse = (procedure: string, input: object, token = analyst) =>
  gantry.refusal(procedure, input, { token });

const setZone = (timezone: string) => ask('system.timezone.updateTimezoneSettings', { timezone }, admin);
const addSensor = async (type = 'RADAR') => {
  const { id: locationId } = await ask(
    'locations.create',
    { name: `Ring ${randomUUID()}`, speedLimit: 50 },
    admin,
  );
  const sensor = { name: 'Radar', deviceId: randomUUID(), type, locationId };
  const { id: sensorId, apiKey } = await ask('sensors.create', sensor, admin);
  return { locationId, sensorId, apiKey };
};

const DAY = '2026-03-10';
const RANGE = { startDate: DAY, endDate: DAY };
const START = Date.parse(`${DAY}T00:00:00Z`);

/** Counts of successive quarter hours from a time on. */
const sendQuarters = async (apiKey: string, volumes: readonly (number | null)[], start = START) => {
  const periods = volumes.map((volume, n) => ({
    start: new Date(start + n * 15 * MINUTE_MS).toISOString(),
    seconds: 900,
    direction: 'NB',
    volume,
  }));
  expect(await gantry.ok('counts.ingest', { apiKey, periods })).toMatchObject({ success: true });
};
const dayOf = (volume: number) => Array.from({ length: 96 }, () => volume);

const sendSpeeds = async (apiKey: string, speeds: readonly number[], start = START) => {
  const events = speeds.map((vehicleSpeed, n) => ({
    eventType: 'SPEED_DETECTION',
    timestamp: new Date(start + n * MINUTE_MS).toISOString(),
    vehicleSpeed,
  }));
  for (let n = 0; n < events.length; n += 500) {
    const input = { apiKey, events: events.slice(n, n + 500) };
    expect(await gantry.ok('events.ingestBatch', input)).toMatchObject({ success: true });
  }
};

const create = (input: object) =>
  ask('studies.create', { kind: 'VOLUME', title: 'Count', ...RANGE, ...input });
const freeze = async (input: object) => ask('studies.freeze', { id: (await create(input)).id });

describe('a study', async () => {
  const { locationId, apiKey } = await addSensor();
  beforeAll(() => sendQuarters(apiKey, dayOf(10)));

  it('is a draft, then frozen, then signed by another person', async () => {
    const draft = await create({ locationId, title: '  Ring, 24 hours ', notes: 'Dry' });
    expect(draft).toMatchObject({
      status: 'DRAFT',
      title: 'Ring, 24 hours',
      notes: 'Dry',
      author: { name: 'ANALYST Tester' },
      timezone: 'UTC',
      hash: null,
      reviewer: null,
      range: { startDate: `${DAY}T00:00:00.000Z`, endDate: `${DAY}T23:59:59.999Z` },
      options: { locationId, interval: '15min' },
    });
    const { id } = draft;
    expect(await ask('studies.get', { id })).toMatchObject({
      ...draft,
      figures: { total: 960, coverage: 1 },
    });
    const frozen = await ask('studies.freeze', { id });
    expect(frozen).toMatchObject({ id, status: 'FROZEN', hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(frozen.frozenAt).not.toBeNull();
    const signed = await ask('studies.sign', { id }, operator);
    expect(signed).toMatchObject({
      status: 'SIGNED',
      author: { name: 'ANALYST Tester' },
      frozenBy: { name: 'ANALYST Tester' },
      reviewer: { name: 'OPERATOR Tester' },
      hash: frozen.hash,
    });
    expect(signed.signedAt).not.toBeNull();
    const { id: userId } = await ask('auth.me', {}, operator);
    const { activities } = await ask('users.getActivityLog', { userId }, admin);
    expect(activities[0]).toMatchObject({
      action: 'studies.sign',
      details: { studyId: id, hash: frozen.hash },
    });
  });

  it('may not be signed by its author or by who froze it, and only once it is frozen', async () => {
    const { id } = await create({ locationId });
    expect(await refuse('studies.sign', { id }, operator)).toMatchObject({
      status: 409,
      message: expect.stringContaining('The study is DRAFT'),
    });
    await ask('studies.freeze', { id }, operator);
    for (const token of [analyst, operator])
      expect(await refuse('studies.sign', { id }, token)).toMatchObject({
        status: 403,
        message: expect.stringContaining('another person'),
      });
    await ask('studies.sign', { id }, admin);
    expect(await refuse('studies.sign', { id }, admin)).toMatchObject({ status: 409 });
    expect(await refuse('studies.freeze', { id })).toMatchObject({ status: 409 });
    expect(await refuse('studies.reject', { id, reason: 'Late' }, admin)).toMatchObject({ status: 409 });
    expect(await refuse('studies.delete', { id })).toMatchObject({ status: 409 });
  });

  it('can be rejected with a reason, and then deleted', async () => {
    const { id } = await freeze({ locationId });
    expect(await refuse('studies.delete', { id })).toMatchObject({ status: 409 });
    expect(await refuse('studies.reject', { id, reason: ' ' }, operator)).toMatchObject({ status: 400 });
    expect(await ask('studies.reject', { id, reason: 'Wrong lane' }, operator)).toMatchObject({
      status: 'REJECTED',
      reason: 'Wrong lane',
      reviewer: { name: 'OPERATOR Tester' },
      signedAt: null,
    });
    expect(await refuse('studies.sign', { id }, admin)).toMatchObject({ status: 409 });
    expect((await ask('studies.get', { id })).figures.total).toBe(960);
    expect(await ask('studies.delete', { id })).toEqual({ success: true, id });
    expect(await refuse('studies.get', { id })).toMatchObject({ status: 404 });
  });

  it('of somebody else is frozen and deleted only by who may manage the reports of others', async () => {
    const { id } = await ask('studies.create', { kind: 'VOLUME', title: 'x', locationId, ...RANGE }, admin);
    for (const procedure of ['studies.freeze', 'studies.delete'])
      expect(await refuse(procedure, { id })).toMatchObject({ status: 403 });
    expect(await refuse('studies.freeze', { id }, viewer)).toMatchObject({ status: 403 });
    expect(await ask('studies.delete', { id }, operator)).toMatchObject({ success: true });
  });

  it('is frozen once and decided on once, however many ask at the same time', async () => {
    const { id } = await create({ locationId });
    const statuses = async (calls: Promise<{ status: number }>[]) =>
      (await Promise.all(calls)).map(({ status }) => status).sort();
    const many = <Item>(of: () => Item): Item[] => Array.from({ length: 4 }, of);
    const call = (procedure: string, token: string, more: object = {}) =>
      gantry.call(procedure, { id, ...more }, { token });
    expect(await statuses(many(() => call('studies.freeze', analyst)))).toEqual([200, 409, 409, 409]);
    const decisions = [
      call('studies.sign', operator),
      call('studies.sign', admin),
      call('studies.reject', operator, { reason: 'x' }),
    ];
    expect(await statuses(decisions)).toEqual([200, 409, 409]);
  });

  it('is listed with others, newest first, in pages', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await create({ kind: 'PEAK_HOURS', locationId })).id);
    const list = (input: object) => ask('studies.list', { kind: 'PEAK_HOURS', ...input }, viewer);
    const first = await list({ take: 2 });
    expect(first).toMatchObject({ total: 3, pageCount: 2 });
    const second = await list({ take: 2, skip: 2 });
    const found = [...first.studies, ...second.studies].map(({ id }: { id: string }) => id);
    expect(found).toEqual(ids.reverse());
    expect(first.studies[0]).not.toHaveProperty('figures');
    expect(await list({ status: 'SIGNED' })).toMatchObject({ studies: [], total: 0 });
  });

  it.each([
    [{ locationId: randomUUID() }, 404, 'Location not found'],
    [{ sensorId: randomUUID() }, 404, 'Sensor not found'],
    [{}, 400, 'Give either'],
    [{ locationId, title: ' ' }, 400, 'title'],
    [{ locationId, kind: 'HEADWAYS' }, 400, 'kind'],
    [{ locationId, endDate: '2026-03-09' }, 400, 'The end is before the start'],
    [{ locationId, endDate: '2027-03-09' }, 400, 'more than 10000'],
    [{ locationId, kind: 'TURNING_MOVEMENTS', interval: '60min' }, 400, 'interval'],
    [{ locationId, kind: 'SPEED', method: 'CLASSED' }, 400, 'needs classes'],
    [{ locationId, kind: 'COMPARISON' }, 400, 'before'],
  ])('is refused with a reason: %j', async (input, status, message) => {
    const given = { kind: 'VOLUME', title: 'x', ...RANGE, ...input };
    const found = await refuse('studies.create', given);
    expect(found).toMatchObject({ status });
    expect(JSON.stringify(found)).toContain(message);
  });

  it('is served under /v1', async () => {
    const headers = { authorization: `Bearer ${analyst}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ kind: 'VOLUME', title: 'By REST', locationId, ...RANGE });
    const made = await gantry.fetch('/v1/studies', { method: 'POST', headers, body });
    expect(made.status).toBe(201);
    const { id } = made.body;
    const frozen = await gantry.fetch(`/v1/studies/${id}/freeze`, { method: 'POST', headers });
    expect(frozen.body).toMatchObject({ status: 'FROZEN' });
    const verified = await gantry.fetch(`/v1/studies/${id}/verification`, { headers });
    expect(verified.body).toMatchObject({ matches: true });
    expect((await gantry.fetch(`/v1/studies?status=FROZEN`, { headers })).body.total).toBeGreaterThan(0);
  });
});

describe('the data of a study', () => {
  it('have the same hash if they are the same, whatever the study is called', async () => {
    const [one, other] = [await addSensor(), await addSensor()];
    await sendQuarters(one.apiKey, dayOf(7));
    await sendQuarters(other.apiKey, dayOf(7));
    const { hash } = await freeze({ locationId: one.locationId });
    expect((await freeze({ locationId: other.locationId, title: 'Other' })).hash).toBe(hash);
    expect((await freeze({ sensorId: other.sensorId, kind: 'PEAK_HOURS' })).hash).toBe(hash);
    await sendQuarters(other.apiKey, [8]);
    expect((await freeze({ locationId: other.locationId })).hash).not.toBe(hash);
  });

  it('do not change, nor do its figures, and verifying says what is different', async () => {
    const { locationId, apiKey } = await addSensor();
    await sendQuarters(apiKey, dayOf(5));
    const { id, hash } = await freeze({ locationId });
    const before = await ask('studies.get', { id });
    expect(await ask('studies.verify', { id }, viewer)).toEqual({
      matches: true,
      hash,
      storedHash: hash,
      isIntact: true,
      reason: null,
      differenceCount: 0,
      differences: [],
    });
    await sendQuarters(apiKey, [5, 9]);
    const found = await ask('studies.verify', { id });
    expect(found).toMatchObject({ matches: false, storedHash: hash, isIntact: true, differenceCount: 2 });
    expect(found.hash).not.toBe(hash);
    expect(found.reason).toContain('after the study was frozen');
    const row = '2026-03-10T00:15:00.000+00:00';
    expect(found.differences).toEqual([
      { row, column: 'Vehicles', stored: 5, current: 9 },
      { row, column: 'NB', stored: 5, current: 9 },
    ]);
    expect(await ask('studies.get', { id })).toEqual(before);
    await sendQuarters(apiKey, [5, 5]);
    expect(await ask('studies.verify', { id })).toMatchObject({ matches: true });
  });

  it('that are edited in the database no longer have their hash', async () => {
    const { locationId, apiKey } = await addSensor();
    await sendQuarters(apiKey, [1, 2]);
    const { id } = await freeze({ locationId });
    await gantry.pool.query(`UPDATE studies SET data = jsonb_set(data, '{rows,0,4}', '3') WHERE id = $1`, [
      id,
    ]);
    expect(await ask('studies.verify', { id })).toMatchObject({ isIntact: false, matches: true });
  });

  it('of a draft are the present ones, and cannot be verified', async () => {
    const { locationId, apiKey } = await addSensor();
    const { id } = await create({ locationId });
    expect((await ask('studies.get', { id })).figures).toMatchObject({ n: 0, coverage: 0 });
    await sendQuarters(apiKey, [4]);
    expect((await ask('studies.get', { id })).figures).toMatchObject({ n: 4, coverage: 0.0104 });
    expect(await refuse('studies.verify', { id })).toMatchObject({ status: 409 });
  });
});

describe('studies of each kind', async () => {
  const [byQuarter, byVehicle] = [await addSensor('CAMERA'), await addSensor('CAMERA')];
  const city = { startDate: CITY_DAY, endDate: CITY_DAY };
  beforeAll(async () => {
    await setZone(CITY_ZONE);
    await sendCityCounts(gantry, byQuarter.apiKey);
    await sendCityVehicles(gantry, byVehicle.apiKey);
  }, 120_000);

  it('have the printed turning movements of a city, and one hash for counts and for vehicles', async () => {
    const input = { kind: 'TURNING_MOVEMENTS', ...city };
    const frozen = await freeze({ ...input, locationId: byQuarter.locationId });
    expect((await freeze({ ...input, locationId: byVehicle.locationId })).hash).toBe(frozen.hash);
    const { figures } = await ask('studies.get', { id: frozen.id });
    const am = figures.peaks.find(({ window }: { window: string }) => window === 'AM');
    expect(am).toMatchObject({ volume: 1_399, peakHourFactor: 0.8657, pedestrians: 310, bicycles: 141 });
    expect(figures).toMatchObject({ timezone: CITY_ZONE, n: figures.total.volume, coverage: 0.3333 });
    expect(frozen.timezone).toBe(CITY_ZONE);
  });

  it('have the printed peak hours', async () => {
    const { id } = await freeze({
      kind: 'PEAK_HOURS',
      windows: ['AM', 'PM'],
      ...city,
      locationId: byQuarter.locationId,
    });
    const { figures, options } = await ask('studies.get', { id });
    expect(options.windows).toEqual([{ window: 'AM' }, { window: 'PM' }]);
    expect(figures.days[0].windows).toMatchObject([
      { window: 'AM', volume: 1_399 },
      { window: 'PM', start: `${CITY_DAY}T21:45:00.000Z`, volume: 1_555 },
    ]);
  });

  it('have the speeds that were measured, and those of their counts once events are gone', async () => {
    await setZone('UTC');
    const { locationId, sensorId, apiKey } = await addSensor();
    await sendSpeeds(
      apiKey,
      Array.from({ length: 250 }, (_, n) => 40.4 + (n % 30)),
    );
    const input = { kind: 'SPEED', locationId, method: 'NEAREST_RANK', hours: ['00:00-04:00'] };
    const { id, hash } = await freeze(input);
    const { figures, options } = await ask('studies.get', { id });
    expect(options.hours).toEqual(['00:00-04:00']);
    expect(figures).toMatchObject({ n: 240, basis: 'EXACT', v85: 65.4, coverage: 1 });
    const live = await ask('traffic.getSpeedStudy', { ...input, ...RANGE, kind: undefined });
    expect(figures).toMatchObject(live);
    const { rows } = await gantry.pool.query('SELECT data FROM studies WHERE id = $1', [id]);
    expect(rows[0].data.rows[0]).toEqual(['', 50, 40.4, 40.4, 8, null]);
    await gantry.pool.query('DELETE FROM events WHERE sensor_id = $1', [sensorId]);
    expect(await ask('studies.verify', { id })).toMatchObject({ matches: false, storedHash: hash });
    expect((await ask('studies.get', { id })).figures).toEqual(figures);
    const counted = await freeze(input);
    expect((await ask('studies.get', { id: counted.id })).figures).toMatchObject({
      n: 240,
      mean: figures.mean,
    });
    expect(await ask('studies.verify', { id: counted.id })).toMatchObject({ matches: true });
  });

  it('compare before and after', async () => {
    const { locationId, apiKey } = await addSensor();
    const later = START + 7 * 24 * 60 * MINUTE_MS;
    await sendSpeeds(
      apiKey,
      Array.from({ length: 100 }, (_, n) => 50 + (n % 10)),
    );
    await sendSpeeds(
      apiKey,
      Array.from({ length: 100 }, (_, n) => 46 + (n % 10)),
      later,
    );
    const [before, after] = [DAY, '2026-03-17'].map((day) => ({ locationId, startDate: day, endDate: day }));
    const { id, range, placeName } = await freeze({ kind: 'COMPARISON', before, after });
    expect(range).toEqual({ startDate: `${DAY}T00:00:00.000Z`, endDate: '2026-03-17T23:59:59.999Z' });
    expect(placeName).not.toContain('–');
    const { figures } = await ask('studies.get', { id });
    expect(figures).toMatchObject({
      n: 200,
      before: { n: 100, mean: 54.5 },
      after: { n: 100, mean: 50.5 },
      mean: { difference: 4, significant: true },
    });
    await sendSpeeds(apiKey, [80], later + 120 * MINUTE_MS);
    const found = await ask('studies.verify', { id });
    expect(found.differences).toContainEqual({
      row: 'AFTER 50 80 80',
      column: 'Vehicles',
      stored: null,
      current: 1,
    });
  });
});

describe('days on which the clocks change', () => {
  it.each([
    ['America/New_York', '2026-03-08', 92, 4, '05:00', '04:00'],
    ['America/New_York', '2026-11-01', 100, 4, '04:00', '05:00'],
    ['Australia/Lord_Howe', '2026-04-05', 98, 4, '11:00', '10:30'],
    ['Australia/Lord_Howe', '2025-10-05', 94, 4, '10:30', '11:00'],
  ])('are counted whole in %s on %s', async (zone, day, quarters, volume, first, last) => {
    await setZone(zone);
    const { locationId, apiKey } = await addSensor();
    const { range } = await create({ locationId, startDate: day, endDate: day });
    const start = Date.parse(range.startDate);
    await sendQuarters(
      apiKey,
      Array.from({ length: quarters }, () => volume),
      start,
    );
    const { id } = await freeze({ locationId, startDate: day, endDate: day });
    // What is frozen is in the time zone of its creation.
    await setZone('UTC');
    const { figures, timezone } = await ask('studies.get', { id });
    expect(timezone).toBe(zone);
    expect(figures).toMatchObject({
      n: quarters * volume,
      coverage: 1,
      adt: { value: quarters * volume, n: 1 },
    });
    expect(figures.bins).toHaveLength(quarters);
    const { rows } = await gantry.pool.query('SELECT data FROM studies WHERE id = $1', [id]);
    const times = rows[0].data.rows.map(([from]: [string]) => from);
    expect([times[0].slice(-5), times.at(-1).slice(-5)]).toEqual([first, last]);
    expect(new Set(times).size).toBe(quarters);
    expect(await ask('studies.verify', { id })).toMatchObject({ matches: true });
  });
});

describe('a signed study', () => {
  it('stays readable when its sensor, its location and its people are deleted', async () => {
    const { locationId, sensorId, apiKey } = await addSensor();
    const { name } = await ask('locations.getById', { id: locationId }, admin);
    await sendQuarters(apiKey, [3]);
    const person = {
      email: 'eva@gantry.local',
      password: 'Correct-horse-1',
      firstName: 'Eva',
      lastName: 'Roth',
    };
    const { id: userId } = await ask('users.create', { ...person, role: 'ANALYST' }, admin);
    const eva = await gantry.login(person.email, person.password);
    const { id } = await ask('studies.create', { kind: 'VOLUME', title: 'x', locationId, ...RANGE }, eva);
    await ask('studies.freeze', { id }, eva);
    await ask('studies.sign', { id });
    await ask('users.delete', { id: userId }, admin);
    await ask('sensors.delete', { id: sensorId }, admin);
    await ask('locations.delete', { id: locationId }, admin);
    expect(await ask('studies.get', { id })).toMatchObject({
      status: 'SIGNED',
      placeName: name,
      author: { id: userId, name: 'Eva Roth' },
      reviewer: { name: 'ANALYST Tester' },
      figures: { total: 3 },
    });
    expect(await ask('studies.verify', { id })).toMatchObject({
      matches: false,
      hash: null,
      reason: 'The place of the study no longer exists',
    });
  });
});

// The last, because retention is for the whole service. What it removes is older than what the other tests use.
describe('after retention has run, a signed study', async () => {
  const old = '2025-03-10';
  const range = { startDate: old, endDate: old };
  const start = Date.parse(`${old}T00:00:00Z`);
  const daysKept = Math.floor((Date.now() - Date.parse('2025-06-01T00:00:00Z')) / DAY_MS);
  const [counted, measured] = [await addSensor(), await addSensor()];
  const signed = async (input: object) => {
    const { id } = await freeze({ ...range, ...input });
    await ask('studies.sign', { id }, operator);
    return ask('studies.get', { id });
  };
  const runRetention = async (rules: object) => {
    await ask('storage.setRetention', rules, admin);
    const { id } = await ask('storage.runRetention', {}, admin);
    await eventually(
      async () => (await ask('storage.getRetentionRuns', {}, admin)).runs,
      (runs) =>
        runs.some((run: { id: string; status: string }) => run.id === id && run.status === 'COMPLETED'),
      60_000,
    );
  };
  beforeAll(async () => {
    await setZone('UTC');
    await sendQuarters(counted.apiKey, dayOf(5), start);
    const speeds = Array.from({ length: 250 }, (_, n) => 40.4 + (n % 30));
    await sendSpeeds(measured.apiKey, speeds, start);
  });

  it('keeps its speeds and says that single ones are no longer known, then that its counts were removed', async () => {
    const speeds = await signed({ kind: 'SPEED', locationId: measured.locationId, method: 'NEAREST_RANK' });
    const counts = await signed({ locationId: counted.locationId });
    expect(speeds.figures).toMatchObject({ n: 250, basis: 'EXACT' });
    await runRetention({ events: { default: daysKept } });
    const verified = await ask('studies.verify', { id: speeds.id });
    expect(verified).toMatchObject({ matches: false, isIntact: true, storedHash: speeds.hash });
    expect(verified.reason).toContain('Retention has removed events');
    expect(await ask('studies.verify', { id: counts.id })).toMatchObject({ matches: true });

    await runRetention({ traffic: daysKept });
    const found = await ask('studies.verify', { id: counts.id });
    expect(found).toMatchObject({ matches: false, isIntact: true, storedHash: counts.hash });
    expect(found.reason).toContain('were removed');
    expect(found.differences).toContainEqual({
      row: `${old}T00:00:00.000+00:00`,
      column: 'Vehicles',
      stored: 5,
      current: null,
    });
    for (const study of [speeds, counts]) expect(await ask('studies.get', { id: study.id })).toEqual(study);
  });
});
