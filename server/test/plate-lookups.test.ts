import { role } from '@gantry/contract/permissions';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';

const gantry = await sharedGantry();
const admin = await gantry.tokenFor('ADMIN');
beforeAll(async () => {
  const apiKey = await gantry.registerSensor();
  for (const licensePlateNumber of ['1AB 2345', '1AB 2346', 'МО 77']) {
    await gantry.ok('events.ingest', { apiKey, eventType: 'PLATE_RECOGNITION', licensePlateNumber });
  }
});

interface LookUp {
  action: string;
  timestamp: string;
  ipAddress: string;
  userAgent: string;
  details: { plate: string; reason?: string; total?: number; count?: number };
}

/** The plates that a user has looked up so far, the latest first. */
const lookUpsOf = async (token: string): Promise<LookUp[]> => {
  const { id: userId } = await gantry.ok('auth.me', undefined, { token });
  const { activities } = await gantry.ok('users.getActivity', { userId }, { token: admin });
  return activities.filter(({ action }: LookUp) => action === 'events.lookUpPlate');
};

describe('looking up a plate', () => {
  it('is recorded: who, when, from where, which plate, why, and the number of events', async () => {
    const token = await gantry.tokenFor('OPERATOR');
    const before = Date.now();
    const { total } = await gantry.ok(
      'events.getAll',
      { licensePlateNumber: ' 1ab* ', reason: ' Case 4711 ', take: 1 },
      { token, headers: { 'user-agent': 'Control room 3' } },
    );
    expect(total).toBe(2);
    const [record] = await lookUpsOf(token);
    expect(record).toEqual({
      action: 'events.lookUpPlate',
      timestamp: expect.any(String),
      ipAddress: '127.0.0.1',
      userAgent: 'Control room 3',
      details: { plate: '1ab*', reason: 'Case 4711', total: 2 },
    });
    expect(Date.parse(String(record?.timestamp))).toBeGreaterThanOrEqual(before - 1_000);
  });

  it('requires no reason, and is recorded even without results', async () => {
    const token = await gantry.tokenFor('ANALYST');
    await gantry.ok('events.getAll', { licensePlateNumber: 'ZZ 999', reason: '  ' }, { token });
    await gantry.ok('events.getAll', { licensePlateNumber: 'мо77', eventType: 'INCIDENT' }, { token });
    await gantry.ok('events.getAll', { licensePlateNumber: 'мо77', skip: 50 }, { token });
    expect((await lookUpsOf(token)).map(({ details }) => details)).toEqual([
      { plate: 'мо77', total: 1 },
      { plate: 'мо77', total: 0 },
      { plate: 'ZZ 999', total: 0 },
    ]);
  });

  it('is recorded once for all pages of a search, and counted when it is made again', async () => {
    const token = await gantry.tokenFor('ANALYST');
    const before = (await lookUpsOf(token)).length;
    const search = { licensePlateNumber: '1AB*', reason: 'Case 12', take: 1 };
    // All these calls fall into one period of ten minutes, unless a new period begins between them: then there are two
    // records.
    for (const skip of [0, 1, 2, 3]) await gantry.ok('events.getAll', { ...search, skip }, { token });
    await gantry.ok('events.getAll', { ...search, skip: 1, sortBy: 'severity' }, { token });
    const records = (await lookUpsOf(token)).slice(0, -before);
    expect(records.length).toBeLessThanOrEqual(2);
    expect(records.at(-1)?.details).toEqual({ plate: '1AB*', reason: 'Case 12', total: 2 });
    for (const more of [
      { reason: 'Case 13' },
      { eventType: 'PLATE_RECOGNITION' },
      { licensePlateNumber: '1AB 2*' },
    ]) {
      const known = (await lookUpsOf(token)).length;
      await gantry.ok('events.getAll', { ...search, ...more }, { token });
      expect(await lookUpsOf(token)).toHaveLength(known + 1);
    }
    await gantry.ok('events.getAll', search, { token });
    const counts = (await lookUpsOf(token)).filter(({ details }) => details.reason === 'Case 12');
    expect(counts.reduce((sum, { details }) => sum + (details.count ?? 1), 0)).toBeGreaterThan(1);
  });

  it.each(role.options)('is recorded for %s', async (name) => {
    const token = await gantry.tokenFor(name);
    const count = (await lookUpsOf(token)).length;
    await gantry.ok('events.getAll', { licensePlateNumber: '1AB 2345' }, { token });
    expect(await lookUpsOf(token)).toHaveLength(count + 1);
  });

  it('is not recorded for other queries, with or without a reason', async () => {
    const token = await gantry.tokenFor('VIEWER');
    const count = (await lookUpsOf(token)).length;
    await gantry.ok('events.getAll', undefined, { token });
    await gantry.ok('events.getAll', { licensePlateNumber: '   ', reason: 'none' }, { token });
    await gantry.ok('events.getAll', { locationName: 'Main Street' }, { token });
    expect(await lookUpsOf(token)).toHaveLength(count);
  });

  it('is not recorded when the query is refused', async () => {
    const token = await gantry.tokenFor('VIEWER');
    const count = (await lookUpsOf(token)).length;
    for (const input of [
      { licensePlateNumber: 'AB 1', reason: 'r'.repeat(501) },
      { licensePlateNumber: 'AB 1', reason: 'a\u0000b' },
      { licensePlateNumber: 'AB 1', reason: 7 },
      { licensePlateNumber: 'AB 1', take: 0 },
      { licensePlateNumber: 'p'.repeat(201) },
    ]) {
      expect((await gantry.call('events.getAll', input, { token })).status).toBe(400);
    }
    expect(await lookUpsOf(token)).toHaveLength(count);
    await gantry.ok('events.getAll', { licensePlateNumber: 'AB 1', reason: '😀'.repeat(500) }, { token });
    expect(await lookUpsOf(token)).toHaveLength(count + 1);
  });

  it('fails when it cannot be recorded', async () => {
    const token = await gantry.tokenFor('FIELD');
    await gantry.pool.query('ALTER TABLE activity RENAME TO activity_away');
    const refused = await gantry.call('events.getAll', { licensePlateNumber: '1AB 2345' }, { token });
    const shown = await gantry.call('events.getAll', {}, { token });
    const { status } = await gantry.call('events.getStats', {}, { token });
    await gantry.pool.query('ALTER TABLE activity_away RENAME TO activity');
    expect(status).toBe(200);
    // The list shows plates, which is recorded, too.
    expect([refused.status, shown.status]).toEqual([500, 500]);
    expect(JSON.stringify(refused.body)).not.toMatch(/1AB ?2345/i);
  });
});
