import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reportedEvent } from '@gantry/contract/events';
import { beforeAll, describe, expect, it } from 'vitest';
import { storeReported } from '../src/ingest/pipeline.ts';
import { sharedGantry, startGantry } from './harness.ts';
import { processorMs } from './processor-time.ts';
import { dataUrl, jpeg, png, webp } from './sample-images.ts';

const gantry = await sharedGantry();
const apiKey = await gantry.registerSensor();
const token = await gantry.tokenFor('VIEWER');

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const report = (images: string[], more = {}) =>
  gantry.call('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION', images, ...more });
const imagesOf = async (eventId: string): Promise<string[]> =>
  (await gantry.ok('events.getById', { id: eventId }, { token })).images;
const countEvents = async (): Promise<number> =>
  Number((await gantry.pool.query('SELECT count(*) AS n FROM events')).rows[0].n);
const fetchImage = (address: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${gantry.url}${address}`, { method, headers: { authorization: `Bearer ${token}`, ...headers } });
/** How often an image is in the segments. */
const timesStored = async (bytes: Buffer): Promise<number> => {
  const folder = join(gantry.app.context.config.DATA_DIR, 'images', 'segments');
  const contents = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name))));
  return contents.reduce(
    (times, content) => times + content.toString('hex').split(bytes.toString('hex')).length - 1,
    0,
  );
};

describe('an image that comes with an event', () => {
  it.each([
    ['a data: URL of a PNG', dataUrl(png(), 'image/png'), png(), 'image/png'],
    ['plain base64 of a JPEG', jpeg().toString('base64'), jpeg(), 'image/jpeg'],
    [
      'plain base64 in lines',
      jpeg()
        .toString('base64')
        .replace(/(.{20})/g, '$1\r\n'),
      jpeg(),
      'image/jpeg',
    ],
    ['a data: URL of a WebP', dataUrl(webp(), 'image/webp'), webp(), 'image/webp'],
    ['a progressive JPEG', dataUrl(jpeg({ frame: 0xc2 }), 'image/jpeg'), jpeg({ frame: 0xc2 }), 'image/jpeg'],
  ])('is stored and served: %s', async (_what, sent, bytes, type) => {
    const { body } = await report([sent]);
    const { eventId } = body.result.data.json;
    const address = `/images/${sha256(bytes)}`;
    expect(await imagesOf(eventId)).toEqual([address]);
    const answer = await fetchImage(address);
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': type,
      'content-length': String(bytes.length),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'cache-control': 'private, max-age=31536000, immutable',
      // A browser must not show it to the next user without asking the service.
      vary: 'Origin, Authorization',
    });
    const known = await fetchImage(address, { 'if-none-match': `"${sha256(bytes)}"` });
    expect([known.status, known.headers.get('vary')]).toEqual([304, 'Origin, Authorization']);
  });

  it('is stored once for any number of events, and keeps its position among addresses', async () => {
    const bytes = png({ shade: 7 });
    const address = `/images/${sha256(bytes)}`;
    const sent = ['https://cameras.example.org/7.jpg', dataUrl(bytes, 'image/png'), 'frames/12'];
    const answers = await Promise.all([report(sent), report(sent), report([...sent, sent[1] as string])]);
    for (const { body } of answers) {
      const images = await imagesOf(body.result.data.json.eventId);
      expect(images.slice(0, 3)).toEqual([sent[0], address, sent[2]]);
    }
    expect(await timesStored(bytes)).toBe(1);
  });

  it('does not turn a retry into a different event, in any form', async () => {
    const bytes = png({ shade: 8 });
    const keyed = { timestamp: '2026-01-05T10:00:00Z', idempotencyKey: 'image-8' };
    const first = await report([dataUrl(bytes, 'image/png')], keyed);
    const again = await gantry.ok('events.ingestBatch', {
      apiKey,
      events: [
        { eventType: 'VEHICLE_DETECTION', images: [dataUrl(bytes, 'image/png')], ...keyed },
        { eventType: 'VEHICLE_DETECTION', images: [bytes.toString('base64')], ...keyed },
        { eventType: 'VEHICLE_DETECTION', images: [dataUrl(png({ shade: 9 }), 'image/png')], ...keyed },
      ],
    });
    const { eventId } = first.body.result.data.json;
    expect(again.results.slice(0, 2)).toEqual([
      { eventId, duplicate: true },
      { eventId, duplicate: true },
    ]);
    expect(again.results[2].error.code).toBe('CONFLICT');
  });
});

describe('an image in a data: URL', () => {
  it.each(['image/jpg', 'image/pjpeg', 'image/png', 'image/jpeg;charset=utf-8;name=a', '', 'text/plain'])(
    'is known by its bytes, although its type is %j',
    async (type) => {
      const bytes = jpeg({ comment: `an image of the type ${type}`, width: 40 });
      const { eventId, warnings } = (await report([dataUrl(bytes, type)])).body.result.data.json;
      expect(warnings).toBeUndefined();
      const { images } = await gantry.ok(
        'events.getById',
        { id: eventId },
        { token: await gantry.tokenFor('ADMIN') },
      );
      expect(images).toEqual([`/images/${sha256(bytes)}`]);
    },
  );

  it('that is truncated is stored with a warning', async () => {
    const whole = jpeg({ comment: 'x'.repeat(500) });
    const bytes = whole.subarray(0, whole.length - 2);
    const { eventId, warnings } = (await report([dataUrl(bytes, 'image/jpeg')])).body.result.data.json;
    expect(warnings).toEqual([
      { path: 'images.0', message: 'The image is truncated, and is stored as it was sent' },
    ]);
    const { images } = await gantry.ok(
      'events.getById',
      { id: eventId },
      { token: await gantry.tokenFor('ADMIN') },
    );
    expect(images).toEqual([`/images/${sha256(bytes)}`]);
  });
});

describe('data that is not an image', () => {
  const huge = 'The image has';
  it.each([
    ['HTML that claims to be a PNG', dataUrl(Buffer.from('<html>'), 'image/png'), 'not an image'],
    ['HTML in a data: URL', 'data:text/html,<script>alert(1)</script>', 'not an image'],
    ['SVG in a data: URL', dataUrl(Buffer.from('<svg/>'), 'image/svg+xml'), 'not an image'],
    ['SVG as text', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'not an image'],
    ['SVG in base64', Buffer.from('<svg xmlns="x"/>').toString('base64'), 'not an image'],
    ['a GIF', dataUrl(Buffer.from('GIF89a'), 'image/gif'), 'not an image'],
    ['a broken data: URL', 'data:image/png;base64,iVBORw0KGgo!!!!', 'base64'],
    ['a PNG that is cut short', png().subarray(0, 18).toString('base64'), 'header'],
    ['a JPEG that is cut short', jpeg().subarray(0, 22).toString('base64'), 'header'],
    ['a WebP that is cut short', dataUrl(webp().subarray(0, 20), 'image/webp'), 'header'],
    ['a PNG of no size', dataUrl(png({ width: 0 }), 'image/png'), 'header'],
    [
      'a PNG that would be 10 gigapixels',
      dataUrl(png({ width: 100_000, height: 100_000 }), 'image/png'),
      huge,
    ],
    [
      'a JPEG that would be 4 gigapixels',
      dataUrl(jpeg({ width: 65_500, height: 65_500 }), 'image/jpeg'),
      huge,
    ],
    [
      'a WebP that would be 268 megapixels',
      dataUrl(webp({ width: 16_384, height: 16_384 }), 'image/webp'),
      huge,
    ],
    ['a line of 30,000 pixels', dataUrl(png({ width: 30_000, height: 1 }), 'image/png'), huge],
  ])('is BAD_REQUEST, and its event is not stored: %s', async (_what, sent, message) => {
    const before = await countEvents();
    const { status, body } = await report(['https://example.org/1.jpg', sent]);
    expect(status).toBe(400);
    const [issue] = body.error.json.data.issues;
    expect(issue.path).toBe('images.1');
    expect(issue.message).toContain(message);
    expect(await countEvents()).toBe(before);
  });

  it('affects only its own event of a batch', async () => {
    const { results } = await gantry.ok('events.ingestBatch', {
      apiKey,
      events: [
        { eventType: 'VEHICLE_DETECTION', images: [dataUrl(png({ shade: 20 }), 'image/png')] },
        { eventType: 'VEHICLE_DETECTION', images: [dataUrl(Buffer.from('GIF89a'), 'image/gif')] },
        { eventType: 'VEHICLE_DETECTION' },
      ],
    });
    expect(results.map((each: object) => 'eventId' in each)).toEqual([true, false, true]);
    expect(results[1].error).toMatchObject({ code: 'BAD_REQUEST', issues: [{ path: 'images.0' }] });
  });

  it('is refused quickly, even if it is crafted to be slow to search', async () => {
    const hostile = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 2]), Buffer.alloc(7_000_000)]);
    const work = await processorMs(async () =>
      expect((await report([dataUrl(hostile, 'image/jpeg')])).status).toBe(400),
    );
    expect(work).toBeLessThan(5_000);
  });
});

describe('/images/<sha256>', () => {
  const bytes = jpeg({ comment: 'the one that is served' });
  const address = `/images/${sha256(bytes)}`;
  beforeAll(() => report([dataUrl(bytes, 'image/jpeg')]));

  it('requires a token, and answers 404 for an unknown image', async () => {
    const anonymous = await gantry.fetch(address);
    expect(anonymous.status).toBe(401);
    expect(anonymous.body.error.json).toMatchObject({
      message: 'No token provided',
      data: { code: 'UNAUTHORIZED' },
    });
    for (const unknown of [`/images/${'0'.repeat(64)}`, '/images/..%2f..%2fetc%2fpasswd', '/images/x']) {
      const answer = await fetchImage(unknown);
      expect(answer.status).toBe(404);
      expect(await answer.text()).toContain('"code":"NOT_FOUND"');
    }
  });

  it.each([
    ['bytes=0-3', 206, [0, 3]],
    ['bytes=10-', 206, [10, bytes.length - 1]],
    ['bytes=-5', 206, [bytes.length - 5, bytes.length - 1]],
    ['bytes=3-99999', 206, [3, bytes.length - 1]],
    ['bytes=0-1,4-5', 200, [0, bytes.length - 1]],
    ['lines=1-2', 200, [0, bytes.length - 1]],
    ['bytes=5-2', 200, [0, bytes.length - 1]],
  ] as const)('answers %s with %i', async (range, status, [start, end]) => {
    const answer = await fetchImage(address, { range });
    expect(answer.status).toBe(status);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes.subarray(start, end + 1));
    expect(answer.headers.get('content-range')).toBe(
      status === 206 ? `bytes ${start}-${end}/${bytes.length}` : null,
    );
  });

  it.each([`bytes=${bytes.length}-`, 'bytes=-0'])('cannot satisfy %s', async (range) => {
    const answer = await fetchImage(address, { range });
    expect(answer.status).toBe(416);
    expect(answer.headers.get('content-range')).toBe(`bytes */${bytes.length}`);
  });

  it('need not be downloaded twice', async () => {
    const tag = (await fetchImage(address)).headers.get('etag') ?? '';
    expect((await fetchImage(address, { 'if-none-match': tag })).status).toBe(304);
    expect((await fetchImage(address, { 'if-none-match': `"other", W/${tag}` })).status).toBe(304);
    expect((await fetchImage(address, { 'if-none-match': '"other"' })).status).toBe(200);
    expect((await fetchImage(address, { range: 'bytes=0-0', 'if-range': tag })).status).toBe(206);
    expect((await fetchImage(address, { range: 'bytes=0-0', 'if-range': '"other"' })).status).toBe(200);
  });

  it('describes itself without its bytes', async () => {
    const answer = await fetchImage(address, {}, 'HEAD');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-length')).toBe(String(bytes.length));
    expect(answer.headers.get('content-type')).toBe('image/jpeg');
    expect(await answer.text()).toBe('');
  });
});

describe('while images cannot be stored', () => {
  it('no event with one is acknowledged, others are, and a retry succeeds afterwards', async () => {
    await using broken = await startGantry();
    const key = await broken.registerSensor();
    const place = join(broken.app.context.config.DATA_DIR, 'images');
    // A file in place of the folder, because root may write regardless of permissions.
    await writeFile(place, '');
    const event = {
      apiKey: key,
      eventType: 'VEHICLE_DETECTION',
      images: [dataUrl(png({ shade: 99 }), 'image/png')],
    };
    const refused = await broken.call('events.ingest', event);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await broken.call('events.ingest', { ...event, images: ['frame-1'] })).status).toBe(200);
    const { apiKey: _, ...item } = event;
    const batch = await broken.ok('events.ingestBatch', {
      apiKey: key,
      events: [item, { eventType: 'VEHICLE_DETECTION' }],
    });
    expect(batch.results[0].error.code).toBe('SERVICE_UNAVAILABLE');
    expect(batch.results[1].duplicate).toBe(false);
    expect((await broken.pool.query('SELECT FROM events')).rowCount).toBe(2);
    await rm(place);
    await mkdir(place);
    await chmod(place, 0o700);
    expect((await broken.call('events.ingest', event)).status).toBe(200);
  });
});

describe('the images of an event that is refused because its key was used for other content', () => {
  const timestamp = '2026-01-31T08:15:00Z';
  const linksTo = (bytes: Buffer): Promise<number> =>
    gantry.count(`event_images WHERE sha256 = decode('${sha256(bytes)}', 'hex')`);

  it('do not stay with the stored event', async () => {
    const [own, shared, other] = [51, 52, 53].map((shade) => png({ shade })) as [Buffer, Buffer, Buffer];
    const shown = [own, shared].map((bytes) => dataUrl(bytes, 'image/png'));
    const key = { timestamp, idempotencyKey: 'gate-7' };
    const { body } = await report(shown, key);
    const refused = await report(
      [shared, other].map((bytes) => dataUrl(bytes, 'image/png')),
      key,
    );
    expect(refused.status).toBe(409);
    expect(await linksTo(other)).toBe(0);
    expect([await linksTo(own), await linksTo(shared)]).toEqual([1, 1]);
    expect(await imagesOf(body.result.data.json.eventId)).toHaveLength(2);
    // A repetition of the same event is not refused.
    expect((await report(shown, key)).status).toBe(200);
    expect([await linksTo(own), await linksTo(shared)]).toEqual([1, 1]);
  });

  it('do not stay with an event that was made of a message of a device either', async () => {
    const [first, second] = [54, 55].map((shade) => png({ shade })) as [Buffer, Buffer];
    const { images, knownSensors } = gantry.app.context;
    const [row] = (await gantry.pool.query('SELECT id FROM sensors')).rows;
    const sensor = await knownSensors.find(row.id);
    if (!sensor) throw new Error('The sensor is not known');
    const store = async (bytes: Buffer) => {
      const image = { sha256: sha256(bytes), mediaType: 'image/png' as const, width: 1, height: 1, bytes };
      await images.keepForNote([image]);
      const event = reportedEvent.parse({
        eventType: 'INCIDENT',
        timestamp,
        idempotencyKey: 'gate-8',
        images: [`/images/${image.sha256}`],
      });
      return storeReported({ app: gantry.app.context, sensor }, event, [image.sha256]);
    };
    expect((await store(first)).outcome).toBe('stored');
    expect((await store(second)).outcome).toBe('duplicate');
    expect([await linksTo(first), await linksTo(second)]).toEqual([1, 0]);
  });
});
