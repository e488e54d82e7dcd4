import { describe, expect, it } from 'vitest';
import { ADMIN, eventually, sharedGantry } from '../../../server/test/harness.ts';
import { isLong } from '../../../server/test/test-length.ts';
import { makerNames } from '../../src/makers/makers.ts';
import { run } from './process.ts';

const gantry = await sharedGantry({ overrides: { timings: { sweepPassagesMs: 100 } } });

/** The makers to test. The others are tested by `npm run test:long`. */
const tried = isLong ? makerNames : (['hikvision'] as const);

describe('a fleet that acts as cameras of a maker', () => {
  it('has at least six makers', () => {
    expect(makerNames.length).toBeGreaterThanOrEqual(6);
  });

  it.each(tried)('is understood as %s: every vehicle is one event, with its images and plate', async (as) => {
    const seed = String(100 + makerNames.indexOf(as));
    const args = ['--url', gantry.url, '--steady', '--images', '--as', as];
    const fleet = run(
      'simulate',
      [...args, '--sensors', '2', '--seed', seed, '--rate', '40', '--duration', '2'],
      { GANTRY_PASSWORD: ADMIN.password },
    );
    expect(await fleet.ended, fleet.text()).toBe(0);
    const sent = Number(/Sent ([0-9,]+) events/.exec(fleet.text())?.[1]?.replaceAll(',', ''));
    expect(sent).toBeGreaterThan(10);
    expect(fleet.text()).toMatch(/ 0 refused, 0 retries/);
    const statuses = async () => {
      const { rows } = await gantry.pool.query<{ status: string; n: number }>(
        `SELECT status, count(*)::int AS n FROM device_messages JOIN connections ON connections.id = connection_id
         WHERE format = $1 GROUP BY status`,
        [as],
      );
      return new Map(rows.map(({ status, n }) => [status, n]));
    };
    // If several messages report a vehicle, they become DUPLICATE or STORED with the last one.
    const found = await eventually(statuses, (all) => !all.has('RECEIVED') && !all.has('HELD'), 60_000);
    expect(
      [...found.keys()].filter((each) => ['REFUSED', 'FAILED', 'UNKNOWN_DEVICE'].includes(each)),
    ).toEqual([]);
    const stored = async () => {
      const { rows } = await gantry.pool.query<{ events: number; plates: number; images: number }>(
        `SELECT count(*)::int AS events, count(plate)::int AS plates, count(images)::int AS images
         FROM events JOIN sensors ON sensors.id = sensor_id WHERE device_id LIKE $1`,
        [`sim-${seed}-%`],
      );
      return rows[0] ?? { events: 0, plates: 0, images: 0 };
    };
    // In these formats, messages with the same plate (or none) and time are one event, although they may be two vehicles.
    const isAmbiguous = as === 'milesight' || as === 'dahua';
    const least = isAmbiguous ? sent * 0.9 : sent;
    const { events, plates, images } = await eventually(stored, (now) => now.events >= least);
    expect(events).toBeLessThanOrEqual(sent);
    expect(plates).toBeGreaterThan(0);
    expect(images).toBeGreaterThan(0);
  });
});
