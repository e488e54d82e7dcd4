import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');
const ask = (procedure: string, input: object) => gantry.ok(procedure, input, { token });
const register = async (): Promise<{ id: string; apiKey: string }> =>
  ask('sensors.create', { name: 'Loop', deviceId: randomUUID(), type: 'RADAR' });

const TORONTO = 'America/Toronto';
const importText = async (text: string, more: object = {}) =>
  ask('counts.import', { sensorId: (await register()).id, text, ...more });
const refused = async (text: string, more: object = {}) => {
  const { id: sensorId } = await register();
  return gantry.refusal('counts.import', { sensorId, text, ...more }, { token });
};
/** The starts and volumes of what would be stored. */
const dry = async (text: string, more: object = {}) => {
  const { periods, errors } = await importText(text, { dryRun: true, ...more });
  return {
    read: periods.map(({ start, volume }: { start: string; volume: number }) => [start.slice(5, 16), volume]),
    errors,
  };
};
const table = (...rows: string[]) => rows.join('\n');

describe('counts.import', () => {
  it('says what a file would store, stores it, and stores it once', async () => {
    const { id: sensorId } = await register();
    const text = table(
      'Station 7',
      '',
      'Date;Time;NB;SB;Total;Remark',
      '2026-03-10;08:00;12;30;42;',
      '2026-03-10;08:15;;31;31;rain',
      '2026-03-10;08:30;14;x;14;',
      '2026-03-10;08:45;15;33;49;',
    );
    const input = { sensorId, text, timeZone: 'UTC' };
    const first = await ask('counts.import', { ...input, dryRun: true });
    expect(first).toMatchObject({
      dryRun: true,
      encoding: null,
      timeZone: 'UTC',
      binLabel: 'START',
      seconds: 900,
      rowCount: 4,
      periodCount: 4,
      stored: 4,
      replaced: 0,
      duplicates: 0,
      from: '2026-03-10T08:00:00.000Z',
      until: '2026-03-10T08:30:00.000Z',
      columns: [
        { name: 'Date', use: 'TIME' },
        { name: 'Time', use: 'TIME' },
        { name: 'NB', use: 'COUNT', direction: 'NB' },
        { name: 'SB', use: 'COUNT', direction: 'SB' },
        { name: 'Total', use: 'SUM' },
        { name: 'Remark', use: 'IGNORED' },
      ],
      errors: [
        { line: 6, message: expect.stringMatching(/^SB: "x" is no count/) },
        {
          line: 7,
          message: 'Total: 49 is not the sum of its parts (NB, SB), which is 48',
        },
      ],
    });
    expect(first.periods).toEqual([
      { line: 4, start: '2026-03-10T08:00:00.000Z', direction: 'NB', volume: 12, result: 'NEW' },
      { line: 4, start: '2026-03-10T08:00:00.000Z', direction: 'SB', volume: 30, result: 'NEW' },
      { line: 5, start: '2026-03-10T08:15:00.000Z', direction: 'NB', volume: null, result: 'NEW' },
      { line: 5, start: '2026-03-10T08:15:00.000Z', direction: 'SB', volume: 31, result: 'NEW' },
    ]);
    expect(await gantry.count(`traffic_periods WHERE sensor_id = '${sensorId}'`)).toBe(0);

    expect(await ask('counts.import', input)).toMatchObject({ stored: 4, errorCount: 2, periods: [] });
    expect(await ask('counts.import', input)).toMatchObject({ stored: 0, duplicates: 4 });
    const changed = { ...input, text: text.replace(';12;30;42;', ';13;30;43;') };
    expect(await ask('counts.import', { ...changed, dryRun: true })).toMatchObject({ replaced: 1 });
    expect(await ask('counts.import', changed)).toMatchObject({ replaced: 1, duplicates: 3 });
    expect(await gantry.count(`traffic_period_revisions WHERE sensor_id = '${sensorId}'`)).toBe(1);
    const { bins } = await ask('traffic.getCounts', {
      sensorId,
      startDate: '2026-03-10T08:00:00Z',
      endDate: '2026-03-10T08:29:59Z',
      by: ['direction'],
    });
    expect(bins).toMatchObject([
      {
        volume: 43,
        cells: [
          { direction: 'NB', volume: 13 },
          { direction: 'SB', volume: 30 },
        ],
      },
      { volume: 31, status: 'PARTIAL', coverage: 0.5 },
    ]);
  });

  it('is for those who manage sensors, and is recorded', async () => {
    const { id: sensorId } = await register();
    const input = { sensorId, text: 'date,time,volume\n2026-03-10,08:00,3', seconds: 900 };
    const analyst = await gantry.tokenFor('ANALYST');
    expect((await gantry.call('counts.import', input, { token: analyst })).status).toBe(403);
    const unknown = { ...input, sensorId: randomUUID() };
    expect((await gantry.call('counts.import', unknown, { token })).status).toBe(404);
    await ask('counts.import', { ...input, dryRun: true });
    await ask('counts.import', input);
    const { activities } = await gantry.ok(
      'users.getActivityLog',
      { action: 'counts.import', about: sensorId },
      { token: await gantry.tokenFor('ADMIN') },
    );
    expect(activities).toMatchObject([{ details: { sensorId, stored: 1, errorCount: 0, format: 'CSV' } }]);
  });

  it('refuses rows that are too long', async () => {
    const told = async (text: string): Promise<string> => (await refused(text)).message;
    const blanks = ' '.repeat(100_000);
    expect(await told(`start,volume\n2026-03-10${blanks}x,5`)).toContain('Line 2: a row has more than 65536');
    expect(await told(`start,volume\n"${'x\n'.repeat(50_000)}`)).toContain('close its quotes');
    expect(await told(`date,time,volume${','.repeat(3_000)}`)).toContain('Line 1 has more than 2000 cells');
  });

  it('refuses what a sensor could not send, by line', async () => {
    const { id: sensorId, apiKey } = await register();
    const stored = { start: '2026-03-10T09:00:00Z', seconds: 3_600, volume: 1 };
    await gantry.ok('counts.ingest', { apiKey, periods: [stored] });
    const ahead = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
    const { errors, ...rest } = await ask('counts.import', {
      sensorId,
      timeZone: 'UTC',
      text: table(
        'date,time,volume',
        '2026-03-10,08:30,-1',
        '2026-03-10,08:45,"1,000"',
        '2026-03-10,09:00,4',
        '2026-03-10,09:00,5',
        `${ahead},09:15,5`,
        '2026-02-30,09:30,5',
        '2026-03-10,25:00,5',
        '2026-03-10,10:00,6,7',
        '2026-03-10,10:15,2.5',
        '2026-03-10,10:30,6',
        'Total,,31',
      ),
    });
    expect(rest).toMatchObject({ stored: 1, errorCount: 10 });
    expect(
      errors.map(({ line, message }: { line: number; message: string }) => `${line} ${message}`),
    ).toEqual([
      expect.stringMatching(/^2 volume: "-1" is no count: use a whole number of at least 0/),
      expect.stringMatching(/^3 volume: "1,000" is no count: .*separators of thousands/),
      expect.stringMatching(/^4 start: The period overlaps one of 3600 s/),
      expect.stringMatching(/^5 This is the same interval, direction, lane and movement as on line 4/),
      expect.stringMatching(/^6 start: The period starts in the future/),
      expect.stringMatching(/^7 The date "2026-02-30" cannot be read/),
      expect.stringMatching(/^8 The time "25:00" cannot be read/),
      expect.stringMatching(/^9 The row has 4 cells, the header 3/),
      expect.stringMatching(/^10 volume: "2.5" is no count/),
      expect.stringMatching(/^12 The date "Total" cannot be read/),
    ]);
  });

  it.each([
    ['', 'text', /No header was found/],
    ['hello\nworld', 'text', /No header was found in the first 30 rows/],
    ['date,time,volume\n2026-03-10,08:00,3', 'seconds', /does not show how long its intervals are/],
    ['date,time,volume\n2026-03-10,08:00,3\n2026-03-10,08:07,3', 'seconds', /420 s apart/],
    ['date,time,volume\n03/04/2026,08:00,3\n03/04/2026,08:15,3', 'dateOrder', /03\/04\/2026 may begin with/],
    ['date,time,volume\n13/04/2026,08:00,3\n04/13/2026,08:15,3', 'dateOrder', /contradict each other/],
    ['date,time,volume,count\n2026-03-10,08:00,3,3', 'text', /"volume" and "count" mean the same/],
    ['date,time,N,S\n2026-03-10,08:00,3,3', 'text', /"N" may be a direction of travel or a leg/],
    ['date,time,volume\n"2026-03-10,08:00,3', 'text', /cannot be read as a table: Quote Not Closed/],
  ])('says what is missing in %j', async (text, path, message) => {
    expect(await refused(text)).toMatchObject({
      status: 400,
      message: expect.stringMatching(message),
      data: { issues: [{ path }] },
    });
  });
});

describe('the times of a file', () => {
  it.each([
    ['2026-03-10', '08:15', {}],
    ['10.03.2026', '8:15', { dateOrder: 'DMY' }],
    ['3/10/2026', '8:15 AM', { dateOrder: 'MDY' }],
    ['2026/03/10', '0815', {}],
    ['2026-03-10', '08:15:00', {}],
    ['2026-03-10', '08:30', { binLabel: 'END' }],
    ['2026-03-10', '08:15 - 08:30', {}],
    ['2026-03-10 08:15', '', {}],
    ['2026-03-10T08:15:00Z', '', { timeZone: TORONTO }],
    ['2026-03-10T10:15:00+02:00', '', { timeZone: TORONTO }],
  ])('may be %s %s', async (date, time, more) => {
    const header = time === '' ? 'timestamp;volume' : 'date;time;volume';
    const row = [date, ...(time === '' ? [] : [time]), 7].join(';');
    expect(await dry(`${header}\n${row}`, { seconds: 900, timeZone: 'UTC', ...more })).toEqual({
      read: [['03-10T08:15', 7]],
      errors: [],
    });
  });

  it('show the order of day and month by a date that can be read in one way only', async () => {
    const text = table('date,time,volume', '3/1/2026,23:45,1', '3/13/2026,00:00,2', '3/13/2026,00:15,3');
    expect((await dry(text, { timeZone: 'UTC' })).read).toEqual([
      ['03-01T23:45', 1],
      ['03-13T00:00', 2],
      ['03-13T00:15', 3],
    ]);
  });

  it('name ends in a column of ends, 24:00 included', async () => {
    const text = table(
      'date,end time,volume',
      '2026-03-10,23:45,1',
      '2026-03-10,24:00,2',
      '2026-03-11,00:15,3',
    );
    const { read } = await dry(text, { timeZone: 'UTC' });
    expect(read).toEqual([
      ['03-10T23:30', 1],
      ['03-10T23:45', 2],
      ['03-11T00:00', 3],
    ]);
    expect((await refused(text, { binLabel: 'START' })).message).toMatch(/name the ends of intervals/);
  });

  // On 8 March 2026 there is no 02:00 to 03:00 in Toronto, and on 1 November 01:00 to 02:00 occurs twice.
  const quarters = (day: string, ...times: string[]) =>
    table('date,time,volume', ...times.map((time, n) => `${day},${time},${n}`));

  it('that clocks skip are errors', async () => {
    const text = quarters('2026-03-08', '01:30', '01:45', '02:00', '02:45', '03:00', '03:15');
    const { read, errors } = await dry(text, { timeZone: TORONTO });
    expect(read).toEqual([
      ['03-08T06:30', 0],
      ['03-08T06:45', 1],
      ['03-08T07:00', 4],
      ['03-08T07:15', 5],
    ]);
    expect(errors).toEqual([
      { line: 4, message: expect.stringMatching(/^There is no 2026-03-08 02:00 in America\/Toronto/) },
      { line: 5, message: expect.stringMatching(/02:45/) },
    ]);
    const ends = quarters('2026-03-08', '01:45', '02:00', '03:15', '03:30');
    expect(await dry(ends, { timeZone: TORONTO, binLabel: 'END' })).toEqual({
      read: [
        ['03-08T06:30', 0],
        ['03-08T06:45', 1],
        ['03-08T07:00', 2],
        ['03-08T07:15', 3],
      ],
      errors: [],
    });
  });

  it.each([
    ['START', ['00:45', '01:00', '01:15', '01:30', '01:45', '01:00', '01:15', '01:30', '01:45', '02:00']],
    ['END', ['01:00', '01:15', '01:30', '01:45', '02:00', '01:15', '01:30', '01:45', '02:00', '02:15']],
    ['END', ['01:00', '01:15', '01:30', '01:45', '01:00', '01:15', '01:30', '01:45', '02:00', '02:15']],
  ])('that occur twice are told apart by their order (%s)', async (binLabel, times) => {
    const text = quarters('2026-11-01', ...times);
    const expected = times.map((_, n) => {
      const start = Date.parse('2026-11-01T04:45:00Z') + n * 900_000;
      return [new Date(start).toISOString().slice(5, 16), n];
    });
    expect(await dry(text, { timeZone: TORONTO, binLabel })).toEqual({ read: expected, errors: [] });
    const [header = '', ...rows] = text.split('\n');
    const descending = await dry(table(header, ...rows.reverse()), { timeZone: TORONTO, binLabel });
    expect(descending).toEqual({ read: expected, errors: [] });
  });

  it('follow a change of half an hour', async () => {
    // Lord Howe sets its clocks back from 02:00 to 01:30 on 5 April 2026 (15:00 UTC on the day before).
    const text = quarters('2026-04-05', '01:15', '01:30', '01:45', '01:30', '01:45', '02:00');
    const { read } = await dry(text, { timeZone: 'Australia/Lord_Howe' });
    expect(read.map(([start]: [string]) => start)).toEqual([
      '04-04T14:15',
      '04-04T14:30',
      '04-04T14:45',
      '04-04T15:00',
      '04-04T15:15',
      '04-04T15:30',
    ]);
  });
});

describe('the columns of a file', () => {
  const UTC = { timeZone: 'UTC', dryRun: true, seconds: 900 };
  const partsOf = async (text: string, more: object = {}) => {
    const { periods, errors } = await importText(text, { ...UTC, ...more });
    expect(errors).toEqual([]);
    return periods.map(({ line: _, start: __, result: ___, ...period }: Record<string, unknown>) => period);
  };
  const at = (header: string, row: string) => `date,time,${header}\n2026-03-10,08:00,${row}`;

  it.each([
    ['volume', '5', [{ volume: 5 }]],
    [
      'NB Lane 1,NB Lane 2',
      '5,6',
      [
        { direction: 'NB', lane: 1, volume: 5 },
        { direction: 'NB', lane: 2, volume: 6 },
      ],
    ],
    ['direction,lane,count', 'Southbound,2,5', [{ direction: 'SB', lane: 2, volume: 5 }]],
    ['direction,count', '270.5,5', [{ direction: 270.5, volume: 5 }]],
    ['lane,count', 'bus lane,5', [{ lane: 'bus lane', volume: 5 }]],
    ['leg,turn,count', 'N,left,5', [{ movement: { from: 'N', turn: 'L' }, volume: 5 }]],
    ['movement,count', 'NBL,5', [{ movement: { from: 'S', turn: 'L' }, volume: 5 }]],
    [
      'SB Right,NE_T',
      '5,6',
      [
        { movement: { from: 'N', turn: 'R' }, volume: 5 },
        { movement: { from: 'NE', turn: 'T' }, volume: 6 },
      ],
    ],
    ['Cars,Trucks,Bicycles,Total', '5,2,1,7', [{ volume: 7, byClass: { CAR: 5, TRUCK: 2, BICYCLE: 1 } }]],
    ['Class 2,Class 3,Class 9', '5,2,1', [{ volume: 8, byClass: { 2: 5, 3: 2, 9: 1 } }]],
    [
      'E_PEDS,E_CARS_L',
      '4,5',
      [
        { movement: { from: 'E' }, volume: 0, byClass: { PEDESTRIAN: 4 } },
        { movement: { from: 'E', turn: 'L' }, volume: 5, byClass: { CAR: 5 } },
      ],
    ],
    [
      'NB,SB',
      '-,n/a',
      [
        { direction: 'NB', volume: null },
        { direction: 'SB', volume: null },
      ],
    ],
  ])('may be %s', async (header, row, expected) => {
    expect(await partsOf(at(header, row))).toEqual(expected);
  });

  it('have classes in rows of their own', async () => {
    const rows = ['car,NB,5', 'lorry,NB,2', 'cyclist,NB,1', 'spaceship,NB,1', 'car,SB,3'];
    const text = table('date,time,class,direction,count', ...rows.map((row) => `2026-03-10,08:00,${row}`));
    expect(await partsOf(text)).toEqual([
      { direction: 'NB', volume: 8, byClass: { CAR: 5, TRUCK: 2, BICYCLE: 1, UNCLASSIFIED: 1 } },
      { direction: 'SB', volume: 3, byClass: { CAR: 3 } },
    ]);
    const broken = await importText(text.replace('lorry,NB,2', 'lorry,NB,?'), UTC);
    expect(broken).toMatchObject({
      periodCount: 1,
      periods: [{ direction: 'SB', volume: 3 }],
      errors: [
        { line: 2, message: 'The interval is not stored, because line 3 is a part of it' },
        { line: 3, message: expect.stringMatching(/^count: "\?" is no count/) },
      ],
    });
    const fhwa = await importText(at('class,count', '14,5'), { ...UTC, classScheme: 'FHWA13' });
    expect(fhwa.errors[0].message).toMatch(/The scheme FHWA13 has no class "14"/);
  });

  it('are gaps where they are empty, or zeros if the file means that', async () => {
    expect(await partsOf(at('NB,SB', ',5'))).toMatchObject([{ volume: null }, { volume: 5 }]);
    expect(await partsOf(at('NB,SB', ',5'), { emptyCells: 'ZERO' })).toMatchObject([
      { volume: 0 },
      { volume: 5 },
    ]);
    const { errors } = await importText(at('Cars,Trucks', '5,'), UTC);
    expect(errors[0].message).toMatch(/^Some classes of the interval are not known: write 0/);
  });

  it('have speeds and occupancies, with a decimal comma', async () => {
    const { id: sensorId } = await register();
    const text = 'Datum\tZeit\tNB\tNB speed mph\tNB occupancy\n10.03.2026\t08:00\t12\t31,5\t4,2';
    await ask('counts.import', { sensorId, text, timeZone: 'UTC', seconds: 900, dateOrder: 'DMY' });
    const { rows } = await gantry.pool.query('SELECT content FROM traffic_periods WHERE sensor_id = $1', [
      sensorId,
    ]);
    expect(rows[0].content).toMatchObject({ volume: 12, speed: { mean: 50.694 }, occupancy: 4.2 });
  });

  it.each([
    ['UTF-8', Buffer.from('\ufeffdate;time;Anzahl\r\n2026-03-10;08:00;5\r\n')],
    ['UTF-8', Buffer.from('date;Tageszeit;Zeit;Anzahl;Wetter für alle\n2026-03-10;;08:00;5;\n')],
    ['UTF-16LE', Buffer.from('\ufeffdate\ttime\tAnzahl\n2026-03-10\t08:00\t5', 'utf16le')],
    ['windows-1252', Buffer.from('Straße: Köln\ndate;time;Anzahl\n2026-03-10;08:00;5', 'latin1')],
  ])('are read in %s', async (encoding, bytes) => {
    const { id: sensorId } = await register();
    const input = { sensorId, base64: bytes.toString('base64'), ...UTC };
    expect(await ask('counts.import', input)).toMatchObject({
      encoding,
      periods: [{ volume: 5 }],
      errors: [],
    });
  });

  it('are those of a turning movement count of a city', async () => {
    const { id: sensorId } = await register();
    const text = readFileSync(new URL('data/turning-movements.csv', import.meta.url), 'utf8');
    const input = { sensorId, text, timeZone: TORONTO };
    expect(await ask('counts.import', input)).toMatchObject({
      ...{ rowCount: 32, stored: 512, errorCount: 0, seconds: 900 },
      ...{ from: '2018-02-27T12:30:00.000Z', until: '2018-02-27T23:00:00.000Z' },
    });
    const { days } = await ask('traffic.getPeakHours', {
      sensorId,
      startDate: '2018-02-27T00:00:00-05:00',
      endDate: '2018-02-27T23:59:59-05:00',
      windows: [{ window: 'DAY' }],
    });
    // The service counts days in UTC: its busiest hour is that of the afternoon.
    expect(days[0].windows[0]).toMatchObject({ start: '2018-02-27T21:45:00.000Z', volume: 1_555 });
  });
});

describe('lines of PeMS', () => {
  it('have the vehicles, speed and occupancy of each lane', async () => {
    const { id: sensorId } = await register();
    const text = table(
      '717046,2,7,61.5,.0412,12,58.1,.1,03/10/2026 08:00:00',
      '717046,2,8,60,.04,,,,03/10/2026 08:00:30',
      '999999,1,8,60,.04,03/10/2026 08:00:00',
      'no line',
    );
    const input = { sensorId, text, format: 'PEMS', station: '717046', timeZone: 'UTC', direction: 'NB' };
    const { errors, ...rest } = await ask('counts.import', { ...input, dryRun: true });
    expect(rest).toMatchObject({
      seconds: 30,
      periods: [
        { line: 1, start: '2026-03-10T08:00:00.000Z', direction: 'NB', lane: 1, volume: 7 },
        { line: 1, lane: 2, volume: 12 },
        { line: 2, start: '2026-03-10T08:00:30.000Z', lane: 1, volume: 8 },
        { line: 2, lane: 2, volume: null },
      ],
    });
    expect(errors).toEqual([]);
    await ask('counts.import', input);
    const { rows } = await gantry.pool.query(
      `SELECT content FROM traffic_periods WHERE sensor_id = $1 AND lane = '1' ORDER BY start`,
      [sensorId],
    );
    expect(rows[0].content).toMatchObject({ volume: 7, speed: { mean: 98.975 }, occupancy: 4.12 });
    const { errors: flaws } = await ask('counts.import', { ...input, station: undefined, dryRun: true });
    expect(flaws).toMatchObject([
      { line: 3 },
      { line: 4, message: expect.stringMatching(/no line of PeMS/) },
    ]);
  });
});
