import { createHash, randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ImageLimits, Images } from '../src/images/images.ts';
import type { ImageSink } from '../src/images/sink.ts';
import { eventually, sharedGantry } from './harness.ts';
import { dataUrl, png } from './sample-images.ts';

const gantry = await sharedGantry();
const apiKey = await gantry.registerSensor();
const token = await gantry.tokenFor('ADMIN');
afterEach(() => vi.restoreAllMocks());

const log = pino({ level: 'silent' });
const countEvents = async (): Promise<number> =>
  Number((await gantry.pool.query('SELECT count(*) AS n FROM events')).rows[0].n);

/** An event with one unique image of the given size in bytes. */
const withImage = (length: number) => {
  const bytes = Buffer.alloc(length);
  bytes.write(randomUUID());
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const image = { sha256, mediaType: 'image/png' as const, width: 1, height: 1, bytes };
  return { eventId: randomUUID(), eventType: 'INCIDENT', sensorId: randomUUID(), images: [image] };
};
const over = (put: () => Promise<unknown>, limits: Partial<ImageLimits> = {}) => {
  const { db, images } = gantry.app.context;
  const sink: ImageSink = { put: () => put().then(() => null), async [Symbol.asyncDispose]() {} };
  return new Images({ db, log, limits, files: images.files, sink, now: Date.now });
};
const outcomeOf = (work: Promise<void>): Promise<string> =>
  work.then(
    () => 'kept',
    (error: Error & { kind?: string; retryAfterSeconds?: number }) =>
      error.kind === 'unavailable' && error.retryAfterSeconds ? 'unavailable' : error.message,
  );

describe('images that wait to be stored', () => {
  it.each([
    ['bytes', { bytes: 4_000_000 }],
    ['events', { events: 4 }],
  ])('are limited by their %s, and further ones are refused at once', async (_what, limits) => {
    let release = (): void => undefined;
    const stalled = new Promise<void>((resolve) => {
      release = resolve;
    });
    const images = over(() => stalled, limits);
    const outcomes: string[] = [];
    const all = Array.from({ length: 20 }, async () => {
      outcomes.push(await outcomeOf(images.keep(withImage(1_000_000))));
    });
    await eventually(
      async () => outcomes,
      () => outcomes.length === 16,
    );
    expect(new Set(outcomes)).toEqual(new Set(['unavailable']));
    release();
    await Promise.all(all);
    expect(outcomes.slice(16)).toEqual(['kept', 'kept', 'kept', 'kept']);
    expect(await outcomeOf(images.keep(withImage(1_000_000)))).toBe('kept');
  });

  it('are refused while the store fails repeatedly, until one attempt succeeds', async () => {
    let works = false;
    let tries = 0;
    const images = over(
      async () => {
        tries++;
        if (!works) throw new Error('The disk is full');
      },
      { failures: 5, openMs: 300 },
    );
    const outcomes: string[] = [];
    for (let n = 0; n < 30; n++) outcomes.push(await outcomeOf(images.keep(withImage(10))));
    expect(new Set(outcomes)).toEqual(new Set(['unavailable']));
    expect(tries).toBeLessThan(20);
    works = true;
    await eventually(
      () => outcomeOf(images.keep(withImage(10))),
      (outcome) => outcome === 'kept',
    );
  });

  it('are abandoned when storing one takes too long, but their bytes count as long as they are held', async () => {
    let release = (): void => undefined;
    const stalled = new Promise<void>((resolve) => {
      release = resolve;
    });
    const images = over(() => stalled, { putMs: 50, bytes: 1_000_000 });
    await expect(images.keep(withImage(800_000))).rejects.toThrow(
      'Storing the images of the event took too long',
    );
    const refused = images.keep(withImage(800_000));
    await expect(refused).rejects.toThrow('More images are arriving');
    release();
    await eventually(
      () => outcomeOf(images.keep(withImage(800_000))),
      (outcome) => outcome === 'kept',
    );
  });

  it('are not stored when their turn comes too late', async () => {
    const put = vi.fn(async () => undefined);
    const images = over(put);
    expect(await outcomeOf(images.keep(withImage(10), performance.now() - 1))).toBe('unavailable');
    expect(put).not.toHaveBeenCalled();
  });
});

describe('an event with images', () => {
  it('is not stored once its sender has received a time-out', async () => {
    const before = await countEvents();
    const realNow = performance.now.bind(performance);
    const { images } = gantry.app.context;
    const keep = images.keep.bind(images);
    vi.spyOn(images, 'keep').mockImplementation(async (event) => {
      await keep(event);
      vi.spyOn(performance, 'now').mockImplementation(() => realNow() + 25_000);
    });
    const { status, headers } = await gantry.call('events.ingest', {
      apiKey,
      eventType: 'VEHICLE_DETECTION',
      images: [dataUrl(png({ shade: 200 }), 'image/png')],
    });
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await countEvents()).toBe(before);
  });

  it('keeps them when it is repeated while the images of its first attempt are collected', async () => {
    const bytes = png({ shade: 201 });
    const event = {
      apiKey,
      eventType: 'VEHICLE_DETECTION',
      timestamp: new Date(Date.now() - 60_000).toISOString(),
      idempotencyKey: randomUUID(),
      images: [dataUrl(bytes, 'image/png')],
    };
    const age = async () => {
      await gantry.pool.query(`UPDATE event_images SET at = at - interval '70 minutes'`);
      await gantry.pool.query(`UPDATE images SET touched_at = touched_at - interval '70 minutes'`);
    };
    const collect = async () => {
      const { id } = await gantry.ok('storage.runRetention', undefined, { token });
      await eventually(
        async () => (await gantry.ok('storage.getRetentionRuns', {}, { token })).runs,
        (runs) => runs.find((run: { id: string }) => run.id === id)?.status === 'COMPLETED',
        60_000,
      );
    };
    const { eventWriter } = gantry.app.context;
    // The first attempt stores only the images.
    vi.spyOn(eventWriter, 'write').mockRejectedValueOnce(new Error('The database is away'));
    expect((await gantry.call('events.ingest', event)).status).toBe(500);
    await age();
    // Retention runs after the images of the second attempt are stored and before its commit.
    const write = eventWriter.write.bind(eventWriter);
    vi.spyOn(eventWriter, 'write').mockImplementationOnce(async (row, until) => {
      await collect();
      return write(row, until);
    });
    const { eventId } = await gantry.ok('events.ingest', event);
    await age();
    await collect();
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect((await gantry.ok('events.getById', { id: eventId }, { token })).images).toEqual([
      `/images/${sha256}`,
    ]);
    const served = await gantry.fetch(`/images/${sha256}`, { headers: { authorization: `Bearer ${token}` } });
    expect(served.status).toBe(200);
  });
});
