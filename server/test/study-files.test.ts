import { createHash, randomUUID } from 'node:crypto';
import { MINUTE_MS } from '@gantry/contract/durations';
import { beforeAll, describe, expect, it } from 'vitest';
import { CITY_DAY, CITY_ZONE, sendCityCounts } from './city-count.ts';
import { eventually, sharedGantry } from './harness.ts';
import { readCsv, readXlsx } from './report-reading.ts';

const gantry = await sharedGantry({ overrides: { timings: { sweepReportsMs: 50 } } });
const [admin, analyst, viewer] = [
  await gantry.tokenFor('ADMIN'),
  await gantry.tokenFor('ANALYST'),
  await gantry.tokenFor('VIEWER'),
];
const ask = (procedure: string, input: object, token = analyst) => gantry.ok(procedure, input, { token });

const addSensor = async (name = `Ring ${randomUUID()}`) => {
  const { id: locationId } = await ask('locations.create', { name, speedLimit: 50 }, admin);
  const sensor = { name: 'Radar', deviceId: randomUUID(), type: 'RADAR', locationId };
  const { apiKey } = await ask('sensors.create', sensor, admin);
  return { locationId, apiKey };
};

const fileOf = async (id: string, format: string, token = viewer) => {
  const { id: reportId } = await ask('studies.export', { id, format }, token);
  const report = await eventually(
    () => ask('reports.getById', { id: reportId }, token),
    ({ status }) => status === 'DONE' || status === 'FAILED',
    90_000,
  );
  expect(report).toMatchObject({ status: 'DONE', kind: 'STUDY', studyId: id });
  const answer = await fetch(`${gantry.url}${report.url}`, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(200);
  return new Uint8Array(await answer.arrayBuffer());
};

/** The hash as docs/reference.md says how to compute it. */
const hashOfFile = (bytes: Uint8Array): string => {
  const text = new TextDecoder('utf-8', { ignoreBOM: false }).decode(bytes);
  const table = text.split('\r\n').filter((line) => line !== '' && !line.startsWith('#'));
  return createHash('sha256')
    .update(table.map((line) => `${line}\r\n`).join(''))
    .digest('hex');
};

const freeze = async (input: object) => {
  const { id } = await ask('studies.create', { title: 'King Street', ...input });
  return ask('studies.freeze', { id });
};

describe('the files of a study', async () => {
  const crossing = await addSensor('King Street & Spadina Avenue');
  const road = await addSensor();
  const city = { startDate: CITY_DAY, endDate: CITY_DAY };
  beforeAll(async () => {
    await ask('system.timezone.updateTimezoneSettings', { timezone: CITY_ZONE }, admin);
    await sendCityCounts(gantry, crossing.apiKey);
    const start = Date.parse(`${CITY_DAY}T14:00:00Z`);
    const events = Array.from({ length: 200 }, (_, n) => ({
      eventType: 'SPEED_DETECTION',
      timestamp: new Date(start + n * MINUTE_MS).toISOString(),
      vehicleSpeed: 40.5 + (n % 30),
    }));
    await gantry.ok('events.ingestBatch', { apiKey: road.apiKey, events });
  });

  it.each([
    ['TURNING_MOVEMENTS', () => crossing.locationId],
    ['VOLUME', () => crossing.locationId],
    ['SPEED', () => road.locationId],
  ])('have a table as CSV from which anybody can compute the hash: %s', async (kind, place) => {
    const { id, hash } = await freeze({ kind, locationId: place(), ...city });
    const bytes = await fileOf(id, 'CSV');
    expect(hashOfFile(bytes)).toBe(hash);
    const { records, comments } = readCsv(bytes);
    expect(comments).toContain(`SHA-256: ${hash}`);
    expect(comments).toContain(`Time zone: ${CITY_ZONE}`);
    expect(comments).toContain('Status: FROZEN');
    if (kind === 'SPEED') return;
    expect(records[0]).toMatchObject({
      Start: `${CITY_DAY}T00:00:00.000-05:00`,
      Status: 'GAP',
      Vehicles: '',
      'W T CAR': '',
    });
    expect(records[30]).toMatchObject({
      Status: 'VALID',
      'N PEDESTRIAN': '7',
      'W T CAR': '72',
      'E T CAR': '153',
    });
  });

  it('say that a draft is one', async () => {
    const { id } = await ask('studies.create', {
      kind: 'VOLUME',
      title: 'x',
      ...city,
      locationId: crossing.locationId,
    });
    const { comments } = readCsv(await fileOf(id, 'CSV'));
    expect(comments).toContain('Status: DRAFT');
  });

  it('are as well XLSX and PDF', async () => {
    const { id, hash } = await freeze({
      kind: 'TURNING_MOVEMENTS',
      locationId: crossing.locationId,
      ...city,
    });
    const [about] = readXlsx(await fileOf(id, 'XLSX'));
    expect(JSON.stringify(about)).toContain(hash);
    expect(new TextDecoder().decode((await fileOf(id, 'PDF')).slice(0, 5))).toBe('%PDF-');
  });
});
