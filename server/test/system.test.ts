import { beforeAll, describe, expect, it } from 'vitest';
import { createSettingsCache } from '../src/platform/caches.ts';
import { eventually, expectBetween, type Gantry, sharedGantry, startGantry } from './harness.ts';

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const FORMATS = ['DD/MM/YYYY', 'MM/DD/YYYY', 'YYYY-MM-DD', 'DD.MM.YYYY'];

const gantry = await sharedGantry({ config: { ORGANIZATION: 'City of Vienna', NODE_ENV: 'staging' } });
const token = await gantry.tokenFor('ADMIN');

const settings = (from: Gantry = gantry) => from.ok('system.timezone.getTimezoneSettings');
const update = (input?: unknown, as = token) =>
  gantry.call('system.timezone.updateTimezoneSettings', input, { token: as });
const change = async (input: unknown) => {
  const { status, body } = await update(input);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.result.data.json;
};

describe('system.getLicense', () => {
  it('is an enterprise licence for everything, without expiry or limits', async () => {
    const license = await gantry.ok('system.getLicense');
    expect(license).toEqual({
      valid: true,
      type: 'enterprise',
      expiresAt: null,
      features: [
        'dashboard',
        'sensors',
        'reports',
        'analytics',
        'incidents',
        'traffic',
        'locations',
        'users',
        'settings',
      ],
      maxUsers: -1,
      maxSensors: -1,
      organization: 'City of Vienna',
      issuedAt: expect.stringMatching(ISO),
    });
  });

  it('was issued when the installation first started, and does not change', async () => {
    const { issuedAt } = await gantry.ok('system.getLicense');
    expect(Date.parse(issuedAt)).toBeLessThanOrEqual(Date.now() + 1_000);
    const again = await startGantry({
      config: { DATABASE_URL: gantry.app.context.config.DATABASE_URL ?? '' },
    });
    expect((await again.ok('system.getLicense')).issuedAt).toBe(issuedAt);
    await again.stop();
  });
});

describe('system.getSettings', () => {
  it('has exactly the documented keys', async () => {
    const answer = await gantry.ok('system.getSettings');
    expect(Object.keys(answer)).toEqual(['appName', 'appVersion', 'environment', 'features']);
    expect(answer).toMatchObject({ appName: 'Gantry', environment: 'staging' });
    expect(Object.keys(answer.features).sort()).toEqual(
      [
        'analytics',
        'dashboard',
        'incidents',
        'locations',
        'realtime',
        'reports',
        'sensors',
        'traffic',
      ].sort(),
    );
    for (const flag of Object.values(answer.features)) expect(flag).toBeTypeOf('boolean');
  });

  it('has the same version as health', async () => {
    const { appVersion } = await gantry.ok('system.getSettings');
    expect(appVersion).toMatch(/^\d+\.\d+\.\d+/);
    expect((await gantry.ok('system.health')).version).toBe(appVersion);
  });
});

describe('system.health', () => {
  it('reports the actual state in the documented form', async () => {
    const asked = Date.now();
    const health = await gantry.ok('system.health');
    expect(health).toEqual({
      status: 'healthy',
      timestamp: expect.stringMatching(ISO),
      version: expect.any(String),
      database: 'connected',
    });
    expectBetween(health.timestamp, asked, Date.now());
  });
});

describe('the time zone settings', () => {
  it('exist from the start', async () => {
    expect(await settings()).toEqual({
      timezone: 'UTC',
      use24HourFormat: true,
      dateFormat: 'YYYY-MM-DD',
      firstDayOfWeek: 1,
    });
  });

  it('are changed field by field', async () => {
    expect(await change({ timezone: 'Europe/Vienna' })).toEqual({
      success: true,
      settings: {
        timezone: 'Europe/Vienna',
        use24HourFormat: true,
        dateFormat: 'YYYY-MM-DD',
        firstDayOfWeek: 1,
      },
    });
    await change({ use24HourFormat: false, firstDayOfWeek: 0 });
    for (const dateFormat of FORMATS) {
      expect((await change({ dateFormat })).settings.dateFormat).toBe(dateFormat);
    }
    const all = {
      timezone: 'Asia/Kathmandu',
      use24HourFormat: true,
      dateFormat: 'DD.MM.YYYY',
      firstDayOfWeek: 6,
    };
    await change(all);
    expect(await settings()).toEqual(all);
  });

  it('stay unchanged when nothing is given', async () => {
    const before = await settings();
    for (const nothing of [undefined, {}, { timezone: undefined }, { theme: 'dark' }]) {
      expect((await update(nothing)).body.result.data.json).toEqual({ success: true, settings: before });
    }
    expect(await settings()).toEqual(before);
  });

  it.each([
    'Europe/Vienna',
    'UTC',
    'Etc/GMT+5',
    'America/Argentina/Buenos_Aires',
    'Pacific/Apia',
    'Asia/Calcutta',
    'EST5EDT',
    'CET',
  ])('accept the time zone %s', async (timezone) => {
    expect((await change({ timezone })).settings.timezone).toBe(timezone);
  });

  it.each([
    ['europe/vienna', 'Europe/Vienna'],
    ['AMERICA/NEW_YORK', 'America/New_York'],
    ['utc', 'UTC'],
  ])('spell the time zone %s as %s', async (sent, timezone) => {
    expect((await change({ timezone: sent })).settings.timezone).toBe(timezone);
    expect((await settings()).timezone).toBe(timezone);
  });

  it.each<[string, unknown]>([
    ['timezone', 'Europe/Wien'],
    ['timezone', 'Mars/Olympus_Mons'],
    ['timezone', ''],
    ['timezone', ' UTC'],
    ['timezone', 'UTC+2'],
    ['timezone', '+02:00'],
    ['timezone', 'BST'],
    ['timezone', 'ist'],
    ['timezone', 'PST'],
    ['timezone', 'SystemV/AST4'],
    ['timezone', 'local'],
    ['timezone', 'system'],
    ['timezone', '../../etc/passwd'],
    ['timezone', 'x'.repeat(64)],
    ['timezone', null],
    ['timezone', 5],
    ['use24HourFormat', 'true'],
    ['use24HourFormat', 1],
    ['use24HourFormat', null],
    ['dateFormat', 'YYYY/MM/DD'],
    ['dateFormat', 'dd/mm/yyyy'],
    ['dateFormat', 'DD/MM/YYYY '],
    ['dateFormat', ''],
    ['firstDayOfWeek', -1],
    ['firstDayOfWeek', 7],
    ['firstDayOfWeek', 1.5],
    ['firstDayOfWeek', '1'],
    ['firstDayOfWeek', null],
  ])('refuse the %s %j and change nothing', async (field, value) => {
    const before = await settings();
    const { status, body } = await update({ use24HourFormat: !before.use24HourFormat, [field]: value });
    expect(status).toBe(400);
    expect(body.error.json.data.issues).toEqual([{ path: field, message: expect.any(String) }]);
    expect(await settings()).toEqual(before);
  });

  it.each([0, 6])('accept %i as the first day of the week', async (firstDayOfWeek) => {
    expect((await change({ firstDayOfWeek })).settings.firstDayOfWeek).toBe(firstDayOfWeek);
  });

  it('are changed by administrators only, and read by everybody', async () => {
    const before = await settings();
    for (const role of ['OPERATOR', 'ANALYST', 'FIELD', 'VIEWER'] as const) {
      const { status, body } = await update({ firstDayOfWeek: 3 }, await gantry.tokenFor(role));
      expect(status).toBe(403);
      expect(body.error.json.message).toBe(`Your role ${role} does not have the permission System Settings`);
    }
    const stranger = await gantry.call('system.timezone.updateTimezoneSettings', { firstDayOfWeek: 3 });
    expect(stranger.status).toBe(401);
    expect(await settings()).toEqual(before);
  });

  it('record who changed what', async () => {
    await change({ timezone: 'Europe/Paris' });
    const me = await gantry.ok('auth.me', undefined, { token });
    const { activities } = await gantry.ok('users.getActivity', { userId: me.id }, { token });
    expect(activities[0]).toMatchObject({
      action: 'system.updateTimezoneSettings',
      details: { timezone: 'Europe/Paris' },
    });
  });

  it('are changed one after another by concurrent calls', async () => {
    const days = [0, 1, 2, 3, 4, 5, 6];
    const answers = await Promise.all(days.map((firstDayOfWeek) => change({ firstDayOfWeek })));
    expect(answers.map((answer) => answer.settings.firstDayOfWeek)).toEqual(days);
  });
});

describe('the cached settings of a process', () => {
  it('are those of the latest read, even when an earlier one ends after it', async () => {
    const readings: ((timezone: string) => void)[] = [];
    const first = {
      timezone: 'UTC',
      use24HourFormat: true,
      dateFormat: 'YYYY-MM-DD',
      firstDayOfWeek: 1,
    } as const;
    let initial = true;
    const cache = await createSettingsCache(() => {
      if (!initial)
        return new Promise((resolve) => readings.push((timezone) => resolve({ ...first, timezone })));
      initial = false;
      return Promise.resolve(first);
    });
    const both = Promise.all([cache.refresh(), cache.refresh()]);
    readings[1]?.('Asia/Kathmandu');
    await eventually(
      async () => cache.current().timezone,
      (timezone) => timezone === 'Asia/Kathmandu',
    );
    readings[0]?.('Europe/Vienna');
    await both;
    expect(cache.current().timezone).toBe('Asia/Kathmandu');
  });
});

describe('the time zone of the service', () => {
  let apiKey: string;
  beforeAll(async () => {
    const sensor = { name: 'Camera', deviceId: 'camera-1', type: 'CAMERA' };
    apiKey = (await gantry.ok('sensors.create', sensor, { token })).apiKey;
    for (const timestamp of [
      '2026-01-30T22:59:59.999Z',
      '2026-01-30T23:00:00.000Z',
      '2026-01-31T22:59:59.999Z',
      '2026-01-31T23:00:00.000Z',
    ]) {
      await gantry.ok('events.ingest', { apiKey, eventType: 'INCIDENT', timestamp });
    }
  });

  const count = async (range: object, from: Gantry = gantry): Promise<[number, number]> => [
    (await from.ok('events.getStats', range, { token })).total,
    (await from.ok('events.getAll', range, { token })).total,
  ];
  const day = { startDate: '2026-01-31', endDate: '2026-01-31' };

  it('determines the meaning of a date', async () => {
    await change({ timezone: 'UTC' });
    expect(await count(day)).toEqual([2, 2]);
    await change({ timezone: 'Europe/Vienna' });
    expect(await count(day)).toEqual([2, 2]);
    expect(await count({ startDate: '2026-01-31' })).toEqual([3, 3]);
    expect(await count({ endDate: '2026-01-31' })).toEqual([3, 3]);
    expect(await count({ endDate: '2026-01-30' })).toEqual([1, 1]);
    await change({ timezone: 'Pacific/Kiritimati' });
    expect(await count(day)).toEqual([2, 2]);
    expect(await count({ endDate: '2026-01-31' })).toEqual([2, 2]);
    await change({ timezone: 'UTC' });
    expect(await count({ endDate: '2026-01-30' })).toEqual([2, 2]);
  });

  it('determines the meaning of a time without an offset, and not with one', async () => {
    const local = { startDate: '2026-01-31T00:00:00', endDate: '2026-01-31T23:59:59.999' };
    const absolute = { startDate: '2026-01-30T23:00:00Z', endDate: '2026-01-31T23:59:59.999+01:00' };
    await change({ timezone: 'Europe/Vienna' });
    expect(await count(local)).toEqual([2, 2]);
    expect(await count(absolute)).toEqual([2, 2]);
    await change({ timezone: 'America/New_York' });
    expect(await count(local)).toEqual([2, 2]);
    expect(await count({ startDate: '2026-01-30T18:00' })).toEqual([3, 3]);
    expect(await count(absolute)).toEqual([2, 2]);
  });

  it('determines when an event happened that was sent without an offset', async () => {
    await change({ timezone: 'Asia/Kathmandu' });
    const event = { apiKey, eventType: 'INCIDENT', timestamp: '2026-02-10 05:45' };
    const { eventId } = await gantry.ok('events.ingest', event);
    const { timestamp } = await gantry.ok('events.getById', { id: eventId }, { token });
    expect(timestamp).toBe('2026-02-10T00:00:00.000Z');
  });

  it('changes on every process', async () => {
    await change({ timezone: 'UTC' });
    const database = gantry.app.context.config.DATABASE_URL ?? '';
    const other = await startGantry({ config: { DATABASE_URL: database } });
    const current = () => Promise.resolve(other.app.context.settings.current().timezone);
    await eventually(current, (timezone) => timezone === 'UTC');
    await change({ timezone: 'Pacific/Kiritimati' });
    await eventually(current, (timezone) => timezone === 'Pacific/Kiritimati', 2_000);
    expect((await settings(other)).timezone).toBe('Pacific/Kiritimati');
    await other.stop();
  });
});
