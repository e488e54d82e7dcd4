import { decode } from 'jpeg-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, type Gantry, startGantry } from '../../../server/test/harness.ts';
import { HEIGHT, photograph, WIDTH } from '../../src/photograph.ts';
import { createRandom } from '../../src/random.ts';
import { virtualSensor } from '../../src/sensor.ts';
import { eventsOfMinute } from '../../src/stream.ts';
import { run } from './process.ts';

const MINUTE = 29_000_000;
const PACE = { rate: 3, steady: true };
const sensors = Array.from({ length: 9 }, (_, index) => virtualSensor(1, index));

const fleet = sensors.map((sensor) => ({ sensor, events: eventsOfMinute(sensor, MINUTE, PACE) }));
const exposures = fleet.flatMap(({ sensor, events }) =>
  events
    .filter(({ input }) => input.violationType !== undefined)
    .map(({ at, input }) => ({ sensor, at, event: input })),
);

describe('the images of a simulated fleet', () => {
  it('are JPEGs, the same for the same event and different for others', () => {
    const [exposure, another] = exposures;
    if (!exposure || !another) throw new Error('too few violations');
    const image = photograph(exposure, createRandom(7));
    const bytes = Buffer.from(image.replace('data:image/jpeg;base64,', ''), 'base64');
    expect(decode(bytes)).toMatchObject({ width: WIDTH, height: HEIGHT });
    expect(bytes.length).toBeLessThan(40_000);
    expect(photograph(exposure, createRandom(7))).toBe(image);
    expect(photograph(another, createRandom(7))).not.toBe(image);
    expect(photograph({ ...exposure, at: exposure.at + 1_000 }, createRandom(7))).not.toBe(image);
  });

  it('are dark by night and bright by day, by the clock of the place', () => {
    const [exposure] = exposures;
    if (!exposure) throw new Error('too few violations');
    const brightness = (time: string): number => {
      const image = photograph({ ...exposure, at: Date.parse(time) }, createRandom(7));
      const { data } = decode(Buffer.from(image.replace('data:image/jpeg;base64,', ''), 'base64'));
      return data.reduce((sum, value) => sum + value, 0) / data.length;
    };
    expect(brightness('2026-06-01T12:00:00-04:00')).toBeGreaterThan(
      1.4 * brightness('2026-06-01T23:00:00-04:00'),
    );
  });

  it('are added to every violation and incident, and change nothing else of the events', () => {
    const plain = sensors.flatMap((sensor) => eventsOfMinute(sensor, MINUTE, PACE));
    const photographed = sensors.flatMap((sensor) =>
      eventsOfMinute(sensor, MINUTE, { ...PACE, images: true }),
    );
    expect(photographed.map(({ at, input: { images: _, ...input } }) => ({ at, input }))).toEqual(plain);
    expect(plain.every(({ input }) => input.images === undefined)).toBe(true);
    const withImage = photographed.filter(({ input }) => input.images !== undefined);
    expect(withImage.length).toBeGreaterThan(20);
    expect(withImage.length).toBeLessThan(photographed.length / 2);
    const kinds = new Set(withImage.map(({ input }) => input.eventType));
    expect(kinds.has('VEHICLE_DETECTION') || kinds.has('SPEED_DETECTION')).toBe(false);
    const bare = photographed.filter(
      ({ input }) => input.images === undefined && input.violationType !== undefined,
    );
    expect(bare).toEqual([]);
  });
});

describe('simulate --images', () => {
  let gantry: Gantry;
  beforeAll(async () => {
    gantry = await startGantry();
  });
  afterAll(() => gantry.stop());

  it('sends them to the service, which stores them', async () => {
    const options = [
      '--url',
      gantry.url,
      '--steady',
      '--images',
      '--sensors',
      '6',
      '--rate',
      '60',
      '--duration',
      '1',
    ];
    const fleet = run('simulate', options, { GANTRY_PASSWORD: ADMIN.password });
    expect(await fleet.ended).toBe(0);
    expect(fleet.text()).toContain(' 0 refused');
    const token = await gantry.tokenFor('VIEWER');
    const { images } = await gantry.ok('storage.getStats', undefined, { token });
    expect(images.count).toBeGreaterThan(2);
    const { rows } = await gantry.pool.query('SELECT id FROM events WHERE images IS NOT NULL LIMIT 1');
    const [address] = (await gantry.ok('events.getById', { id: rows[0].id }, { token })).images;
    const answer = await fetch(`${gantry.url}${address}`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.headers.get('content-type')).toBe('image/jpeg');
    expect(decode(Buffer.from(await answer.arrayBuffer())).width).toBe(WIDTH);
  });
});
