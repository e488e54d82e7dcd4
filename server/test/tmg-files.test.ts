import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');
const ask = (procedure: string, input: object) => gantry.ok(procedure, input, { token });
await ask('system.timezone.updateTimezoneSettings', { timezone: 'America/New_York' });

const HOUR_MS = 3_600_000;
const register = async (): Promise<{ id: string; apiKey: string }> =>
  ask('sensors.create', {
    name: 'Route 1 | north',
    deviceId: randomUUID(),
    type: 'RADAR',
    coordinates: { latitude: 38.9, longitude: -77.03, address: 'Route 1' },
  });
const STATION = { stateCode: '11', stationId: '50', functionalClass: '2U' };
const fileOf = (sensorId: string, records: string, more: object = {}) =>
  ask('traffic.getTmgFile', { sensorId, year: 2026, month: 3, records, ...STATION, ...more });
/** The records of a file by the names of their fields. */
const rowsOf = (text: string): Record<string, string>[] => {
  const [header = [], ...rows] = text
    .trim()
    .split('\r\n')
    .map((line) => line.split('|'));
  return rows.map((row) => Object.fromEntries(header.map((name, n) => [name, row[n] ?? ''])));
};
/** Hours with two lanes northbound and one southbound, from midnight of a day in New York. */
const sendHours = async (apiKey: string, day: string, hours: number) => {
  const from = Date.parse(`${day}T05:00:00Z`);
  const periods = Array.from({ length: hours }, (_, n) => {
    const at = { start: new Date(from + n * HOUR_MS).toISOString(), seconds: 3_600 };
    const counts = { 2: 40 + n, 3: 7, 5: 2, 9: 1 };
    const speed = {
      mean: 80,
      measured: 40,
      bins: [
        { from: 63, to: 64, count: 10 },
        { from: 80, to: 81, count: 30 },
      ],
    };
    return [
      { ...at, direction: 'NB', lane: 1, byClass: { scheme: 'FHWA13', counts }, speed },
      { ...at, direction: 'NB', lane: 2, volume: n },
      { ...at, direction: 'SB', lane: 1, volume: 100 + n },
    ];
  }).flat();
  const { success } = await gantry.ok('counts.ingest', { apiKey, periods });
  expect(success).toBe(true);
};
const countsOf = async (sensorId: string, day: string) =>
  (
    await ask('traffic.getCounts', {
      ...{ sensorId, startDate: day, endDate: day, interval: '60min' },
      by: ['direction', 'lane', 'class'],
    })
  ).bins;

describe('traffic.getTmgFile', () => {
  it('has a record of a volume for each day, direction and lane', async () => {
    const { id, apiKey } = await register();
    await sendHours(apiKey, '2026-03-03', 30);
    const { fileName, text, recordCount, timezone } = await fileOf(id, 'VOLUME');
    expect({ fileName, recordCount, timezone }).toEqual({
      fileName: '000050_2026-03_volume.txt',
      recordCount: 6,
      timezone: 'America/New_York',
    });
    expect(text.split('\r\n')[0]).toBe(
      `Record_Type|State_Code|F_System|Station_Id|Travel_Dir|Travel_Lane|Year_Record|Month_Record|Day_Record|Day_of_Week|Restrictions|Time_Increment|${Array.from({ length: 24 }, (_, n) => `Hour_${`${n}`.padStart(2, '0')}`).join('|')}`,
    );
    // 3 March 2026 was a Tuesday.
    expect(text.split('\r\n')[3]).toBe(`V|11|2U|000050|1|2|2026|3|3|3|||${[...Array(24).keys()].join('|')}`);
    const rows = rowsOf(text);
    expect(rows.map((row) => [row.Travel_Dir, row.Travel_Lane, row.Day_Record])).toEqual([
      ['1', '1', '3'],
      ['1', '1', '4'],
      ['1', '2', '3'],
      ['1', '2', '4'],
      ['5', '1', '3'],
      ['5', '1', '4'],
    ]);
    // Of the second day, only six hours are known.
    expect(rows[5]).toMatchObject({ Hour_05: '129', Hour_06: '', Hour_23: '' });
  });

  it('has classes, speeds and stations', async () => {
    const { id, apiKey } = await register();
    await sendHours(apiKey, '2026-03-03', 2);
    const [first, second] = rowsOf((await fileOf(id, 'CLASS')).text);
    expect(first).toMatchObject({ Record_Type: 'C', Hour_Record: '0', Total_Interval_Volume: '50' });
    expect(second).toMatchObject({
      Hour_Record: '1',
      Class_1: '0',
      Class_2: '41',
      Class_9: '1',
      Class_13: '0',
    });
    const [speeds] = rowsOf((await fileOf(id, 'SPEED')).text);
    // 63 to 64 km/h are up to 40 mph, 80 to 81 up to 50.
    expect(speeds).toMatchObject({ Record_Type: 'T', Total_Interval_Volume: '50', Bin_5: '10', Bin_7: '30' });
    expect(rowsOf((await fileOf(id, 'STATION')).text)).toMatchObject([
      { Record_Type: 'S', Travel_Dir: '1', Travel_Lane: '1', Number_Lanes_In_Direction: '2' },
      { Travel_Dir: '1', Travel_Lane: '2', Vehicle_Classification_Groupings: '13', F_System: '2U' },
      { Travel_Dir: '5', Latitude: '38.9', Longitude: '-77.03', Station_Location: 'Route 1   north' },
    ]);
  });

  it('needs directions of travel', async () => {
    const { id, apiKey } = await register();
    const at = { start: '2026-03-03T05:00:00Z', seconds: 3_600 };
    await gantry.ok('counts.ingest', { apiKey, periods: [{ ...at, volume: 9, lane: 'left' }] });
    const refusal = (more: object) =>
      gantry.refusal(
        'traffic.getTmgFile',
        { sensorId: id, year: 2026, month: 3, records: 'CLASS', ...STATION, ...more },
        { token },
      );
    expect(await refusal({})).toMatchObject({ status: 400, data: { issues: [{ path: 'direction' }] } });
    expect((await refusal({ direction: 'NS' })).message).toMatch(/in records of volumes only/);
    const [row] = rowsOf((await fileOf(id, 'VOLUME', { direction: 'EW' })).text);
    expect(row).toMatchObject({ Travel_Dir: '0', Travel_Lane: '0', Hour_00: '9' });
  });

  it('has two groups of classes unless all are those of the FHWA', async () => {
    const { id, apiKey } = await register();
    const at = { start: '2026-03-03T05:00:00Z', seconds: 3_600, direction: 'EB' };
    const counts = { CAR: 8, BUS: 1, TRUCK: 2, BICYCLE: 4, UNCLASSIFIED: 3 };
    await gantry.ok('counts.ingest', { apiKey, periods: [{ ...at, byClass: { scheme: 'BASIC', counts } }] });
    const { text } = await fileOf(id, 'CLASS');
    expect(rowsOf(text)).toMatchObject([{ Total_Interval_Volume: '14', Class_1: '8', Class_2: '3' }]);
    expect(text).not.toContain('Class_3');
  });
});

describe('counts.import of TMG', () => {
  it('reads what was written, and the same file comes out again', async () => {
    const { id, apiKey } = await register();
    await sendHours(apiKey, '2026-03-03', 26);
    const files = await Promise.all(['VOLUME', 'CLASS', 'SPEED'].map((records) => fileOf(id, records)));
    const texts: string[] = files.map(({ text }) => text);
    const copy = await register();
    // The vehicles of the other lanes, which have no class, are in none of the classes of a record.
    const imported = await ask('counts.import', {
      ...{ sensorId: copy.id, format: 'TMG', text: texts.join('') },
    });
    // Hours of the second day that are not known are gaps.
    expect(imported).toMatchObject({ stored: 3 * 48, errors: [], errorCount: 0, seconds: 3_600 });
    for (const day of ['2026-03-03', '2026-03-04'])
      expect(await countsOf(copy.id, day)).toEqual(await countsOf(id, day));
    for (const [n, records] of ['VOLUME', 'CLASS', 'SPEED'].entries()) {
      const again = (await fileOf(copy.id, records)).text;
      expect(again).toBe(texts[n]);
    }
  });

  it('keeps the changes of the clocks', async () => {
    const { id, apiKey } = await register();
    // 8 March has no hour from 02:00 to 03:00.
    await sendHours(apiKey, '2026-03-08', 23);
    const { text } = await fileOf(id, 'VOLUME');
    const [row] = rowsOf(text);
    expect(row).toMatchObject({ Day_Record: '8', Hour_01: '51', Hour_02: '', Hour_03: '52', Hour_23: '72' });
    const copy = await register();
    const { errors, stored } = await ask('counts.import', { sensorId: copy.id, format: 'TMG', text });
    expect({ errors, stored }).toEqual({ errors: [], stored: 3 * 23 });
    const broken = await ask('counts.import', {
      ...{ sensorId: copy.id, format: 'TMG', dryRun: true, text: text.replace('|51||52|', '|51|9|52|') },
    });
    expect(broken.errors).toMatchObject([
      { line: 2, message: expect.stringMatching(/^hour_02: There is no/) },
    ]);
  });

  it('is of its month also if that begins at 01:00', async () => {
    const { id, apiKey } = await register();
    await ask('system.timezone.updateTimezoneSettings', { timezone: 'America/Asuncion' });
    await sendHours(apiKey, '2023-10-31', 30);
    for (const [month, days] of [
      [10, ['31']],
      [11, ['1']],
    ] as const) {
      const { text } = await fileOf(id, 'VOLUME', { year: 2023, month });
      expect([...new Set(rowsOf(text).map(({ Day_Record }) => Day_Record))]).toEqual(days);
    }
    await ask('system.timezone.updateTimezoneSettings', { timezone: 'America/New_York' });
  });

  it('tells an hour that occurs twice apart in records of classes, and not in those of days', async () => {
    const { id, apiKey } = await register();
    const from = Date.parse('2025-11-02T04:00:00Z');
    const periods = Array.from({ length: 25 }, (_, n) => ({
      ...{ start: new Date(from + n * HOUR_MS).toISOString(), seconds: 3_600, direction: 'NB', lane: 1 },
      byClass: { scheme: 'FHWA13', counts: { 2: 10 + n } },
    }));
    await gantry.ok('counts.ingest', { apiKey, periods });
    const november = { year: 2025, month: 11 };
    const volumes = await fileOf(id, 'VOLUME', november);
    expect(rowsOf(volumes.text)).toMatchObject([
      { Hour_00: '10', Hour_01: '23', Hour_02: '13', Hour_23: '34' },
    ]);
    const copy = await register();
    const days = await ask('counts.import', {
      sensorId: copy.id,
      format: 'TMG',
      dryRun: true,
      text: volumes.text,
    });
    expect(days).toMatchObject({
      stored: 23,
      errors: [{ line: 2, message: expect.stringMatching(/^hour_01 occurs twice on this day/) }],
    });
    const { text } = await fileOf(id, 'CLASS', november);
    expect(await ask('counts.import', { sensorId: copy.id, format: 'TMG', text })).toMatchObject({
      ...{ stored: 25, errors: [] },
    });
    expect(await countsOf(copy.id, '2025-11-02')).toEqual(await countsOf(id, '2025-11-02'));
  });

  it('says what cannot be read, by line', async () => {
    const { id: sensorId } = await register();
    const key = 'V|11|2U|000050|1|1|2026|3|3|3|';
    const hours = Array(24).fill('5').join('|');
    const text = [
      `${key}||${hours}`,
      `V|11|2U|000050|X|1|2026|3|4|4|||${hours}`,
      `V|11|2U|000050|1|1|2026|2|30|4|||${hours}`,
      `${key.replace('|3|3|3|', '|3|5|5|')}2||${hours}`,
      `C|11|000050|5|1|2026|3|3|0||9|${['10', ...Array(12).fill('0')].join('|')}`,
      'Q|what is this',
    ].join('\n');
    const { errors, ...rest } = await ask('counts.import', { sensorId, format: 'TMG', text, dryRun: true });
    expect(rest).toMatchObject({ rowCount: 5, stored: 48 });
    expect(rest.periods.at(-1)).toMatchObject({ volume: 5 });
    expect(
      errors.map(({ line, message }: { line: number; message: string }) => `${line} ${message}`),
    ).toEqual([
      expect.stringMatching(/^2 Travel_Dir: "X" is no code/),
      expect.stringMatching(/^3 Use a date/),
      expect.stringMatching(/^5 Total_Interval_Volume: 9 is less than the classes add up to, which is 10/),
      expect.stringMatching(/^6 This is no record/),
    ]);
    const two = `${key}||${hours}\n${key.replace('000050', '000051')}||${hours}`;
    const input = { sensorId, format: 'TMG', text: two, dryRun: true };
    const { status, message } = await gantry.refusal('counts.import', input, { token });
    expect({ status, message }).toMatchObject({
      status: 400,
      message: expect.stringMatching(/of 2 stations/),
    });
    expect(await ask('counts.import', { ...input, station: '51' })).toMatchObject({
      rowCount: 1,
      stored: 24,
    });
  });
});
