import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SegmentWriter } from '../src/images/segments.ts';
import { eventually, sharedGantry } from './harness.ts';
import { dataUrl, jpeg, png } from './sample-images.ts';

const gantry = await sharedGantry();
const admin = await gantry.tokenFor('ADMIN');
const field = await gantry.tokenFor('FIELD');
afterEach(() => vi.restoreAllMocks());

const addressOf = (bytes: Buffer): string => `/images/${createHash('sha256').update(bytes).digest('hex')}`;
const asPng = (bytes: Buffer): string => dataUrl(bytes, 'image/png');
const open = async (fields: object = {}): Promise<string> =>
  (
    await gantry.ok(
      'incidents.create',
      { title: 'Lost load', type: 'OBSTRUCTION', ...fields },
      { token: admin },
    )
  ).id;
const add = (id: string, input: object) =>
  gantry.call('incidents.addNote', { id, ...input }, { token: field });
const notesOf = async (id: string) =>
  (await gantry.ok('incidents.getById', { id }, { token: admin })).timeline.filter(
    ({ action }: { action: string }) => action === 'addNote',
  );
const statusOf = async (address: string, token: string): Promise<number> =>
  (await fetch(gantry.url + address, { headers: { authorization: `Bearer ${token}` } })).status;
const imageRows = () => gantry.count('images');

describe('a note of an incident', () => {
  it('may have images, which the timeline contains and all users can read', async () => {
    const id = await open();
    const [one, two] = [png({ shade: 1 }), jpeg({ comment: 'two' })];
    const images = [asPng(one), two.toString('base64'), asPng(one)];
    const { status, body } = await add(id, { note: 'Both lanes', images });
    expect(status).toBe(200);
    expect(body.result.data.json).not.toHaveProperty('images');
    const [note, ...others] = await notesOf(id);
    expect(others).toEqual([]);
    expect(Object.keys(note).sort()).toEqual([
      'action',
      'at',
      'audience',
      'by',
      'details',
      'from',
      'note',
      'to',
    ]);
    expect(note).toMatchObject({
      note: 'Both lanes',
      by: { name: 'FIELD Tester' },
      details: { images: [addressOf(one), addressOf(two)] },
    });
    const viewer = await gantry.tokenFor('VIEWER');
    for (const address of note.details.images) {
      expect(await statusOf(address, viewer)).toBe(200);
      expect(await statusOf(address, 'nobody')).toBe(401);
    }
  });

  it('may consist of images only, and has no details without images', async () => {
    const id = await open();
    const bytes = png({ shade: 2 });
    expect((await add(id, { images: [asPng(bytes)] })).status).toBe(200);
    expect((await add(id, { note: 'Only text', images: [] })).status).toBe(200);
    expect(await notesOf(id)).toMatchObject([
      { note: null, details: { images: [addressOf(bytes)] } },
      { note: 'Only text', details: null },
    ]);
  });

  it('is refused as a whole for data that is not an image, and nothing is stored', async () => {
    const id = await open();
    const before = await imageRows();
    const good = asPng(png({ shade: 3 }));
    const refusals: [object, string, string][] = [
      [{ note: 'x', images: Array(6).fill(good) }, 'images', 'Attach at most 5 images to a note'],
      [{ note: 'x', images: [good, 'https://example.org/a.jpg'] }, 'images.1', 'in base64'],
      [{ note: 'x', images: ['data:image/gif;base64,R0lGODlhAQ=='] }, 'images.0', 'not an image'],
      [{ note: 'x', images: [png({ width: 30_000 }).toString('base64')] }, 'images.0', '30000'],
      [{ note: ' ', images: [] }, 'note', 'Write a note, or attach an image'],
      [{}, 'note', 'Write a note, or attach an image'],
    ];
    for (const [input, path, words] of refusals) {
      const { status, body } = await add(id, input);
      expect(status).toBe(400);
      expect(body.error.json.data.issues[0]).toMatchObject({ path });
      expect(body.error.json.message).toContain(words);
    }
    expect(await notesOf(id)).toEqual([]);
    expect(await imageRows()).toBe(before);
  });

  it('stores no image if the user may not add a note', async () => {
    const other = await gantry.ok('auth.me', undefined, { token: admin });
    const id = await open({ assignedTo: other.id });
    const before = await imageRows();
    const input = { note: 'x', images: [asPng(png({ shade: 4 }))] };
    const { status, body } = await add(id, input);
    expect(status).toBe(403);
    expect(body.error.json.message).toContain('This incident is assigned to');
    expect((await add('no-such', input)).status).toBe(404);
    expect(await imageRows()).toBe(before);
  });

  it('is not added while its images cannot be stored', async () => {
    const id = await open();
    vi.spyOn(SegmentWriter.prototype, 'append').mockRejectedValue(new Error('disk full'));
    const { status, body, headers } = await add(id, { note: 'x', images: [asPng(png({ shade: 5 }))] });
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('1');
    expect(body.error.json.message).toBe(
      'The images of the note cannot be stored at the moment: send the note again later',
    );
    expect(await notesOf(id)).toEqual([]);
  });
});

describe('a note with an idempotency key', () => {
  const key = () => `phone-${Math.random()}`;
  const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
  const HOUR = 3_600_000;

  it('is added once, however often and at the same time it is sent, with and without images', async () => {
    const id = await open();
    for (const images of [[], [asPng(png({ shade: 21 }))]]) {
      const input = { note: `With ${images.length} images`, images, idempotencyKey: key() };
      const first = await Promise.all(Array.from({ length: 5 }, () => add(id, input)));
      const again = await add(id, input);
      expect([...first, again].map(({ status }) => status)).toEqual(Array(6).fill(200));
    }
    const notes = await notesOf(id);
    expect(notes.map(({ note }: { note: string }) => note)).toEqual(['With 0 images', 'With 1 images']);
    // The key is that of the sender, and none of the record.
    expect(JSON.stringify(notes)).not.toContain('phone-');
    expect(notes[0].details).toBeNull();
  });

  it('is another note for another text, another incident and another user', async () => {
    const [id, other] = [await open(), await open()];
    const input = { note: 'First', idempotencyKey: key() };
    await add(id, input);
    const { status, body } = await add(id, { ...input, note: 'Second' });
    expect([status, body.error.json.message]).toEqual([
      409,
      'You used this idempotencyKey for another note: use a new one',
    ]);
    expect((await add(id, { ...input, audience: 'PUBLIC' })).status).toBe(409);
    await add(other, input);
    await gantry.ok('incidents.addNote', { id, ...input }, { token: admin });
    expect([(await notesOf(id)).length, (await notesOf(other)).length]).toEqual([2, 1]);
  });

  it('is known after the incident was assigned to somebody else, or merged into another one', async () => {
    const [id, into] = [await open(), await open()];
    const input = { note: 'Seen', images: [asPng(png({ shade: 22 }))], idempotencyKey: key() };
    await add(id, input);
    const me = await gantry.ok('auth.me', undefined, { token: admin });
    await gantry.ok('incidents.assign', { id, userId: me.id }, { token: admin });
    expect((await add(id, input)).status).toBe(200);
    expect((await add(id, { ...input, idempotencyKey: key() })).status).toBe(403);
    await gantry.ok('incidents.merge', { id, into }, { token: admin });
    expect((await add(id, input)).status).toBe(200);
    expect((await add(into, input)).status).toBe(200);
    expect(await notesOf(into)).toHaveLength(1);
  });

  it('has the time at which it was written beside that at which it arrived, if it was written before', async () => {
    const id = await open();
    const writtenAt = ago(2 * HOUR);
    await add(id, { note: 'Late', writtenAt });
    await add(id, { note: 'At once', writtenAt: ago(5_000) });
    // A clock that is a little ahead.
    await add(id, { note: 'Ahead', writtenAt: ago(-20_000) });
    const [late, ...others] = await notesOf(id);
    expect(late.details).toEqual({ writtenAt });
    expect(Date.parse(late.at)).toBeGreaterThan(Date.parse(writtenAt) + HOUR);
    expect(others.map(({ details }: { details: unknown }) => details)).toEqual([null, null]);
  });

  it('is refused if it was written in the future or more than seven days ago, and no image is stored', async () => {
    const id = await open();
    const before = await imageRows();
    const images = [asPng(png({ shade: 23 }))];
    for (const [writtenAt, words] of [
      [ago(-5 * 60_000), 'in the future'],
      [ago(8 * 24 * HOUR), 'at most 7 days later'],
      ['yesterday', 'ISO 8601'],
    ]) {
      const { status, body } = await add(id, { note: 'x', images, writtenAt });
      expect([status, body.error.json.data.issues[0].path]).toEqual([400, 'writtenAt']);
      expect(body.error.json.message).toContain(words);
    }
    expect(await notesOf(id)).toEqual([]);
    expect(await imageRows()).toBe(before);
  });
});

describe('the images of notes', () => {
  const age = () => gantry.pool.query(`UPDATE images SET touched_at = touched_at - interval '70 minutes'`);
  const carryOut = async () => {
    const { id } = await gantry.ok('storage.runRetention', undefined, { token: admin });
    return eventually(
      async () =>
        (await gantry.ok('storage.getRetentionRuns', {}, { token: admin })).runs.find(
          (run: { id: string }) => run.id === id,
        ),
      (run) => run.status !== 'RUNNING',
    );
  };

  it('are kept as long as the incident, even if events with the same image are removed', async () => {
    const id = await open();
    const [own, shared, lost] = [6, 7, 8].map((shade) => png({ shade })) as [Buffer, Buffer, Buffer];
    await add(id, { note: 'x', images: [asPng(own), asPng(shared)] });
    const apiKey = await gantry.registerSensor();
    const eventId = await gantry.ingest(apiKey, { images: [asPng(shared)] });
    await gantry.ok('events.delete', { id: eventId }, { token: admin });
    // Stored for a note that was never added.
    const lostImage = {
      sha256: addressOf(lost).slice(8),
      mediaType: 'image/png' as const,
      width: 1,
      height: 1,
    };
    await gantry.app.context.images.keepForNote([{ ...lostImage, bytes: lost }]);
    await age();
    await gantry.ok('storage.setRetention', { images: 1 }, { token: admin });
    const stored = () => Promise.all([own, shared, lost].map((bytes) => statusOf(addressOf(bytes), admin)));

    const preview = await gantry.ok('storage.previewRetention', {}, { token: admin });
    const counted = await gantry.count(
      'images WHERE NOT EXISTS (SELECT FROM incident_images WHERE incident_images.sha256 = images.sha256)',
    );
    expect(preview.totals.images).toBe(counted);
    expect((await carryOut()).status).toBe('COMPLETED');
    expect(await stored()).toEqual([200, 200, 404]);

    await gantry.pool.query('DELETE FROM incidents WHERE id = $1', [id]);
    await carryOut();
    expect(await stored()).toEqual([404, 404, 404]);
  });
});
