import { switchableFeatures } from '@gantry/contract/system';
import { featureOff } from '@gantry/contract/values';
import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../src/platform/config.ts';
import { eventually, sharedGantry } from './harness.ts';
import { openStream } from './sse.ts';

const all = await sharedGantry();
const few = await sharedGantry({ config: { FEATURES: 'locations, watchlist' } });
const some = await sharedGantry({
  config: { FEATURES: 'locations, reports' },
  overrides: { timings: { sweepReportsMs: 50 } },
});

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
    ['reports.getRepeatPlates', undefined],
    ['webhooks.getAll', undefined],
  ])('answers FORBIDDEN with that reason: %s', async (procedure, input) => {
    const feature = /^reports\.get(?:Analytics|RepeatPlates)$/.test(procedure)
      ? 'analytics'
      : procedure.split('.')[0];
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

  it.each(['INCIDENTS', 'TRAFFIC'])('includes reports on its data, also scheduled ones: %s', async (kind) => {
    const token = await some.tokenFor('ADMIN');
    const feature = kind.toLowerCase();
    const range = { startDate: '2026-01-01', endDate: '2026-01-02' };
    const schedule = { format: 'CSV', every: 'DAILY', hour: 6 };
    for (const refused of [
      await some.refusal('reports.generate', { kind, format: 'CSV', ...range }, { token }),
      await some.refusal('reports.createSchedule', { kind, ...schedule }, { token }),
    ]) {
      expect(refused).toMatchObject({ status: 403, message: featureOff(feature) });
    }

    // A schedule from before the feature was switched off does not run.
    const other = await some.ok('reports.createSchedule', { kind: 'EVENTS', ...schedule }, { token });
    const { id } = await some.ok('reports.createSchedule', { kind: 'EVENTS', ...schedule }, { token });
    await some.pool.query(
      `UPDATE report_schedules SET kind = CASE id WHEN $1 THEN $2 ELSE kind END, next_run_at = now() WHERE id IN ($1, $3)`,
      [id, kind, other.id],
    );
    await eventually(
      () => some.ok('reports.getReports', {}, { token }),
      ({ reports }) => reports.some(({ scheduleId }: { scheduleId: string }) => scheduleId === other.id),
    );
    const { reports } = await some.ok('reports.getReports', { kind }, { token });
    expect(reports).toEqual([]);
    await some.ok('reports.updateSchedule', { id, enabled: false }, { token });
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
