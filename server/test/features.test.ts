import { switchableFeatures } from '@gantry/contract/system';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../src/platform/config.ts';
import { type Gantry, startGantry } from './harness.ts';
import { openStream } from './sse.ts';

let all: Gantry;
let few: Gantry;
beforeAll(async () => {
  all = await startGantry();
  few = await startGantry({ config: { FEATURES: 'locations, watchlist' } });
});
afterAll(() => Promise.all([all.stop(), few.stop()]));

const refusal = async (procedure: string, input: unknown, token: string) => {
  const { status, body } = await few.call(procedure, input, { token });
  return { status, message: body.error?.json.message, code: body.error?.json.data.code };
};

describe('FEATURES', () => {
  it('includes everything by default', () => {
    expect(readConfig({}).FEATURES).toEqual([...switchableFeatures]);
  });

  it('refuses to start with an unknown name, and lists the known ones', () => {
    expect(() => readConfig({ FEATURES: 'incidents,radar' })).toThrow(ConfigError);
    expect(() => readConfig({ FEATURES: 'radar' })).toThrow(/FEATURES.*incidents/);
  });
});

describe('a feature that is switched off', () => {
  it.each([
    ['incidents.getAll', undefined],
    ['incidents.create', { title: 'x' }],
    ['reports.getReports', undefined],
    ['reports.getAnalytics', undefined],
    ['webhooks.getAll', undefined],
  ])('answers FORBIDDEN with that reason: %s', async (procedure, input) => {
    const feature = procedure === 'reports.getAnalytics' ? 'analytics' : procedure.split('.')[0];
    const token = await few.tokenFor('ADMIN');
    expect(await refusal(procedure, input, token)).toEqual({
      status: 403,
      code: 'FORBIDDEN',
      message: `The feature "${feature}" is disabled: an administrator can add it to the setting FEATURES`,
    });
  });

  it('still requires a token first', async () => {
    const { status, body } = await few.call('incidents.getAll');
    expect(status).toBe(401);
    expect(body.error.json.message).toBe('No token provided');
  });

  it('includes every stream, if it is realtime', async () => {
    const token = await few.tokenFor('ADMIN');
    for (const procedure of ['events.onIngested', 'watchlist.onAlert', 'sensors.onStatusChanged']) {
      const stream = await openStream(few.url, procedure, { token });
      await stream.ended;
      expect(stream.error).toMatchObject({
        data: { code: 'FORBIDDEN' },
        message: /"realtime" is switched off/,
      });
    }
  });

  it('is missing in the flags and on the licence', async () => {
    const { features } = await few.ok('system.getSettings');
    expect(features).toMatchObject({ incidents: false, realtime: false, reports: false, locations: true });
    const license = await few.ok('system.getLicense');
    expect(license.features).toEqual(['dashboard', 'sensors', 'locations', 'users', 'settings']);
  });

  it('does no background work', async () => {
    const apiKey = await few.registerSensor();
    await few.ok('events.ingest', { apiKey, eventType: 'INCIDENT' });
    const { rows } = await few.pool.query('SELECT count(*) AS n FROM incidents');
    expect(rows).toEqual([{ n: 0 }]);
  });
});

describe('a feature that is switched on', () => {
  it('works, and its flag is set', async () => {
    const { features } = await all.ok('system.getSettings');
    expect(features).toMatchObject({ incidents: true, realtime: true, locations: true, sensors: true });
    const license = await all.ok('system.getLicense');
    expect(license.features).toContain('incidents');
    const token = await all.tokenFor('ADMIN');
    expect(await all.ok('incidents.getAll', undefined, { token })).toEqual({
      incidents: [],
      total: 0,
      pageCount: 0,
    });
  });
});
