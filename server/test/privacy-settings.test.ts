import { beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../src/platform/config.ts';
import { sharedGantry, startGantry } from './harness.ts';
import { openStream } from './sse.ts';

let sensorId: string;
const gantry = await sharedGantry({ config: { PUBLIC_SENSORS: 'false', PLATE_SEARCH_REASON: 'true' } });
const admin = await gantry.tokenFor('ADMIN');
beforeAll(async () => {
  await gantry.registerSensor();
  sensorId = (await gantry.ok('sensors.getAllSensors', undefined, { token: admin }))[0].id;
});

describe('PUBLIC_SENSORS=false', () => {
  const calls = () =>
    [
      ['sensors.getAll', undefined],
      ['sensors.getAllSensors', undefined],
      ['sensors.getById', { id: sensorId }],
    ] as const;

  it('requires a token for each query of sensors, and shows nothing without one', async () => {
    const token = await gantry.tokenFor('VIEWER');
    for (const [path, input] of calls()) {
      expect([path, await gantry.refusal(path, input)]).toEqual([
        path,
        expect.objectContaining({ status: 401, message: 'No token provided' }),
      ]);
      expect(await gantry.refusal(path, input, { token: `${token}x` })).toMatchObject({
        status: 401,
        message: 'Invalid or expired token',
      });
      const { status, body } = await gantry.call(path, input, { token });
      expect([path, status]).toEqual([path, 200]);
      expect(JSON.stringify(body)).toContain(sensorId);
    }
  });

  it('requires it in a batch too, by GET and by POST', async () => {
    const path = 'sensors.getAll,sensors.getAllSensors,sensors.getById,events.getEventTypes';
    const input = JSON.stringify({ 2: { json: { id: sensorId } } });
    const answers = await Promise.all([
      gantry.fetch(`/trpc/${path}?batch=1&input=${encodeURIComponent(input)}`),
      gantry.fetch(`/trpc/${path}?batch=1`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: input,
      }),
    ]);
    for (const { body } of answers) expect(JSON.stringify(body)).not.toContain(sensorId);
    const [{ body }] = answers as [(typeof answers)[0], ...unknown[]];
    expect([0, 1, 2].map((at) => body[at].error.json.data.code)).toEqual(Array(3).fill('UNAUTHORIZED'));
    expect(body[3].result.data.json).toContain('INCIDENT');
  });

  it('is not in force unless it is set', async () => {
    expect(readConfig({}).PUBLIC_SENSORS).toBe(true);
  });
});

describe('PLATE_SEARCH_REASON=true', () => {
  const filters = { licensePlateNumber: 'AB 12' };
  const report = { kind: 'EVENTS', format: 'CSV', startDate: '2026-01-01', endDate: '2026-01-02', filters };
  const schedule = { kind: 'EVENTS', format: 'CSV', every: 'DAILY', hour: 3, filters };

  it('refuses a search for a plate without a reason, and records nothing', async () => {
    const { id } = await gantry.ok('reports.createSchedule', { ...schedule, filters: {} }, { token: admin });
    const lookUps = () => gantry.count("activity WHERE action = 'events.lookUpPlate'");
    const before = await lookUps();
    const searches = [
      ['events.getAll', filters],
      ['reports.generate', report],
      ['reports.createSchedule', schedule],
      ['reports.updateSchedule', { id, filters }],
    ] as const;
    for (const [path, input] of searches) {
      for (const reason of [undefined, '   ']) {
        expect([path, await gantry.refusal(path, { ...input, reason }, { token: admin })]).toEqual([
          path,
          expect.objectContaining({
            status: 400,
            message: 'Give a reason: this service requires one for every search for a plate',
          }),
        ]);
      }
    }
    const stream = await openStream(gantry.url, 'events.onIngested', { token: admin, input: filters });
    await stream.ended;
    expect(stream.error.message).toContain('Give a reason');
    expect(await lookUps()).toBe(before);
    for (const [path, input] of searches) {
      await gantry.ok(path, { ...input, reason: 'Case 9' }, { token: admin });
    }
    expect(await lookUps()).toBe(before + searches.length);
    expect(
      await gantry.count("activity WHERE details ->> 'reason' = 'Case 9' AND action = 'events.lookUpPlate'"),
    ).toBe(searches.length);
    await gantry.ok('events.getAll', {}, { token: admin });
  });
});

describe('HIDE_PLATES_FROM', () => {
  it.each(['ADMIN', 'operator', 'GUEST', 'VIEWER;FIELD'])('refuses %s with a sentence', (value) => {
    expect(() => readConfig({ HIDE_PLATES_FROM: value })).toThrow(
      /HIDE_PLATES_FROM\S* must be roles from this list: OPERATOR, ANALYST, FIELD, VIEWER/,
    );
  });
});

describe('PURPOSES', () => {
  const SETTING = 'STOLEN=Stolen vehicle, MISSING=Missing person, with care';
  it.each([
    ['STOLEN', 'not STOLEN'],
    ['stolen=Stolen', 'not stolen=Stolen'],
    ['STOLEN=', 'not STOLEN='],
    [`A=${'x'.repeat(81)}`, 'up to 80 characters'],
    ['A=One,A=Two', 'has the code A twice'],
    [Array.from({ length: 51 }, (_, n) => `P${n}=Purpose`).join(','), 'at most 50'],
    [SETTING, 'not with care'],
  ])('that cannot be used stop the start, by name: %s', (PURPOSES, flaw) => {
    expect(() => readConfig({ PURPOSES })).toThrow('PURPOSES');
    expect(() => readConfig({ PURPOSES })).toThrow(flaw);
  });

  it('are none by default, and then none may be given', async () => {
    expect(readConfig({}).PURPOSES.size).toBe(0);
    const search = { licensePlateNumber: 'AB 1', reason: 'Case 1', purpose: 'STOLEN' };
    const refused = await gantry.refusal('events.getAll', search, { token: admin });
    expect([refused.status, refused.data.issues[0].path]).toEqual([400, 'purpose']);
  });

  it('are required for every search for a plate, recorded with the case, and found in the log', async () => {
    await using asking = await startGantry({ config: { PURPOSES: 'STOLEN=Stolen vehicle,MISSING=Missing' } });
    const token = await asking.tokenFor('ADMIN');
    expect(await asking.ok('auth.getPlateAccess', undefined, { token })).toMatchObject({
      purposes: [
        { code: 'STOLEN', name: 'Stolen vehicle' },
        { code: 'MISSING', name: 'Missing' },
      ],
    });
    const { id: hotlistId } = await asking.ok('hotlists.create', { name: 'Stolen' }, { token });
    const range = { startDate: '2026-01-01', endDate: '2026-01-02' };
    const filters = { licensePlateNumber: 'AB 1' };
    const webhook = { url: 'https://example.org/hook', kinds: ['event.ingested'], filter: filters };
    const calls = [
      ['events.getAll', filters],
      ['hotlists.getEntries', { hotlistId, plate: 'AB 1' }],
      ['hotlists.findEntries', { plate: 'AB 1' }],
      ['reports.generate', { kind: 'EVENTS', format: 'CSV', ...range, filters }],
      ['reports.createSchedule', { kind: 'EVENTS', format: 'CSV', every: 'DAILY', hour: 3, filters }],
      ['webhooks.create', webhook],
    ] as const;
    for (const [path, input] of calls) {
      for (const purpose of [undefined, 'stolen', 'OTHER']) {
        const refused = await asking.refusal(path, { ...input, purpose }, { token });
        expect([path, refused.status, refused.data.issues]).toEqual([
          path,
          400,
          [
            {
              path: 'purpose',
              message: 'Give the purpose of the search for a plate, one of STOLEN, MISSING',
            },
          ],
        ]);
      }
    }
    expect(await asking.count(`activity WHERE action = 'events.lookUpPlate'`)).toBe(0);
    const why = { purpose: 'MISSING', caseNumber: ' 2026/14 ' };
    for (const [path, input] of calls.slice(0, 5)) await asking.ok(path, { ...input, ...why }, { token });
    await asking.ok('events.getAll', { ...filters, purpose: 'STOLEN' }, { token });
    const found = async (filter: object) =>
      (await asking.ok('users.getActivityLog', { action: 'events.lookUpPlate', ...filter }, { token }))
        .activities;
    expect(await found({ purpose: 'MISSING' })).toMatchObject(
      Array(5).fill({ details: { plate: 'AB 1', purpose: 'MISSING', caseNumber: '2026/14' } }),
    );
    expect(await found({ purpose: 'STOLEN' })).toHaveLength(1);
    expect(await found({ caseNumber: '2026/14' })).toHaveLength(5);
    expect(await found({ caseNumber: '2026/1' })).toHaveLength(0);
    await asking.ok('events.getAll', {}, { token });
    const stream = await openStream(asking.url, 'events.onIngested', { token, input: filters });
    await stream.ended;
    expect(stream.error).toMatchObject({ data: { code: 'BAD_REQUEST' } });
  });
});
