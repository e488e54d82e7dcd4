import { createHash, randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, open, readdir, readFile, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { imageFilesAt } from '../src/images/blobs.ts';
import { Images } from '../src/images/images.ts';
import { moveFilesToSegments, type RewriteParts, rewriteSegments } from '../src/images/rewrite.ts';
import { HEADER_BYTES, OPEN_MS, SegmentFiles, SegmentWriter } from '../src/images/segments.ts';
import { recordImages } from '../src/images/store.ts';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { sharedGantry } from './harness.ts';
import { damageStored } from './sample-images.ts';

const gantry = await sharedGantry();
const { db } = gantry.app.context;
const log = pino({ level: 'silent' });
afterEach(() => vi.restoreAllMocks());

const MONTH = '2026-11';

const undo: (() => Promise<unknown>)[] = [];
const folders: string[] = [];
const temporaryFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-segments-'));
  folders.push(folder);
  return folder;
};
afterEach(async () => {
  for (const each of undo.splice(0)) await each();
});
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

/** Something that is stored as an image. */
const sample = (bytes = randomBytes(1_000)) => ({
  sha256: createHash('sha256').update(bytes).digest('hex'),
  mediaType: 'image/png' as const,
  width: 1,
  height: 1,
  bytes,
});
type Sample = ReturnType<typeof sample>;

/** Segments that no database knows. */
const unregistered = async () => {
  const files = new SegmentFiles(join(await temporaryFolder(), 'segments'));
  const names: string[] = [];
  const closed: number[] = [];
  let time = Date.now();
  const register = {
    add: async (name: string) => names.push(name),
    close: async (id: number) => void closed.push(id),
  };
  const writer = new SegmentWriter(files, register, () => time);
  undo.push(() => writer[Symbol.asyncDispose]());
  const bytesAt = async ({ segment, position }: { segment: number; position: number }, length: number) =>
    files.read(names[segment - 1] ?? '', position, length);
  const pass = (ms: number): void => {
    time += ms;
  };
  return { files, names, closed, writer, bytesAt, pass };
};

describe('a segment', () => {
  it('contains its images one after the other, each with its length and its hash', async () => {
    const { files, names, writer, bytesAt } = await unregistered();
    const [one, two, three] = [sample(), sample(randomBytes(5)), sample(randomBytes(70_000))];
    const places = [...(await writer.append([one, two], MONTH)), ...(await writer.append([three], MONTH))];
    expect(places.map(({ segment }) => segment)).toEqual([1, 1, 1]);
    for (const [at, { bytes, sha256 }] of [one, two, three].entries()) {
      const place = places[at] as (typeof places)[number];
      expect(await bytesAt(place, bytes.length)).toEqual(bytes);
      const header = await bytesAt({ ...place, position: place.position - HEADER_BYTES }, HEADER_BYTES);
      expect(header?.toString('latin1', 0, 4)).toBe('GIMG');
      expect(header?.readUInt32BE(4)).toBe(bytes.length);
      expect(header?.toString('hex', 8)).toBe(sha256);
    }
    expect(await files.sizeOf(names[0] ?? '')).toBe(3 * HEADER_BYTES + 1_000 + 5 + 70_000);
  });

  it('is closed at the end of its month, and when its writer ends', async () => {
    const { names, closed, writer } = await unregistered();
    await writer.append([sample()], '2026-11');
    await writer.append([sample()], '2026-12');
    expect(names.map((name) => name.slice(0, 7))).toEqual(['2026-11', '2026-12']);
    expect(closed).toEqual([1]);
    await writer[Symbol.asyncDispose]();
    expect(closed).toEqual([1, 2]);
  });

  it('is closed before others take it for abandoned, also if its machine was suspended or its clock was wrong', async () => {
    const { closed, writer, pass } = await unregistered();
    const segmentOf = async () => (await writer.append([sample()], MONTH))[0]?.segment;
    expect(await segmentOf()).toBe(1);
    pass(OPEN_MS - 1);
    expect(await segmentOf()).toBe(1);
    pass(2);
    expect(await segmentOf()).toBe(2);
    pass(-365 * 86_400_000);
    expect(await segmentOf()).toBe(3);
    expect(closed).toEqual([1, 2]);
  });

  it('ends before a group that was not made durable, and the next group begins another one', async () => {
    const { files, names, closed, writer, bytesAt } = await unregistered();
    const before = sample();
    const [place] = await writer.append([before], MONTH);
    const handle = await open(files.pathOf(names[0] ?? ''));
    vi.spyOn(Object.getPrototypeOf(handle), 'datasync').mockRejectedValueOnce(new Error('EIO'));
    await handle.close();
    await expect(writer.append([sample()], MONTH)).rejects.toThrow('EIO');
    expect(closed).toEqual([1]);
    expect(await files.sizeOf(names[0] ?? '')).toBe(HEADER_BYTES + before.bytes.length);
    const after = sample();
    const [next] = await writer.append([after], MONTH);
    expect(next?.segment).toBe(2);
    expect(place && (await bytesAt(place, before.bytes.length))).toEqual(before.bytes);
    expect(next && (await bytesAt(next, after.bytes.length))).toEqual(after.bytes);
  });

  it('has a name that leads to no other file', async () => {
    const { files } = await unregistered();
    for (const name of ['../x', '2026-11-../../x', '', 'segments']) {
      expect(() => files.pathOf(name)).toThrow('Not the name of a segment');
    }
  });
});

/** Images in a folder of their own, in the database of the file. */
const installation = async () => {
  await gantry.pool.query('TRUNCATE images, image_segments, damaged_images, event_images CASCADE');
  const folder = await temporaryFolder();
  const files = imageFilesAt(folder);
  let ahead = 0;
  const images = new Images({ db, log, files, now: () => Date.now() + ahead });
  const advance = (ms: number): void => {
    ahead += ms;
  };
  undo.push(() => images[Symbol.asyncDispose]());
  const parts: RewriteParts = {
    db,
    log,
    files,
    now: Date.now,
    stopped: () => false,
    transact: (work) => inTransaction(db, work),
  };
  const read = async ({ sha256 }: Sample): Promise<Buffer | null> => {
    const found = await images.find(sha256);
    return found && images.read(found);
  };
  const segments = async () =>
    (await gantry.pool.query('SELECT id, name, bytes::int, dead_bytes::int FROM image_segments ORDER BY id'))
      .rows;
  /** Removes images as retention does, and closes the segment. */
  const remove = async (...gone: Sample[]): Promise<void> => {
    for (const { sha256, bytes } of gone) {
      const { rows } = await gantry.pool.query(
        `DELETE FROM images WHERE encode(sha256, 'hex') = $1 RETURNING segment`,
        [sha256],
      );
      await gantry.pool.query(
        'UPDATE image_segments SET dead_bytes = dead_bytes + $2, dead_since = now() WHERE id = $1',
        [rows[0].segment, bytes.length],
      );
    }
    await images[Symbol.asyncDispose]();
  };
  return { folder, files, images, parts, read, segments, remove, advance };
};

describe('images in segments', () => {
  it('that arrive together are made durable together', async () => {
    const { images, read, segments } = await installation();
    const all = Array.from({ length: 40 }, () => sample());
    const append = vi.spyOn(SegmentWriter.prototype, 'append');
    await Promise.all(all.map((each) => images.keepForNote([each])));
    expect(append.mock.calls.length).toBeLessThan(6);
    expect(await segments()).toHaveLength(1);
    for (const each of all) expect(await read(each)).toEqual(each.bytes);
  });

  it('are stored once by one process, and counted as dead if a second one stores them, too', async () => {
    const { files, images, segments } = await installation();
    const other = new Images({ db, log, files, now: Date.now });
    const image = sample();
    await Promise.all([images.keepForNote([image]), images.keepForNote([image])]);
    await images.keepForNote([image]);
    expect(await segments()).toMatchObject([{ dead_bytes: 0 }]);
    await other.keepForNote([image]);
    expect(await segments()).toMatchObject([{ dead_bytes: 0 }, { dead_bytes: image.bytes.length }]);
    await images[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  });

  it('are stored again when they were removed meanwhile, also if this process knows them', async () => {
    const { images, read, advance } = await installation();
    const image = sample();
    await images.keepForNote([image]);
    await gantry.pool.query('DELETE FROM images');
    expect(await read(image)).toBeNull();
    // Nothing is removed before an hour has passed.
    advance(3_600_000);
    await images.keepForNote([image]);
    expect(await read(image)).toEqual(image.bytes);
  });

  it('are written once if they arrive again after they were written and before they are recorded', async () => {
    const { images, segments, read } = await installation();
    const image = sample();
    const first = await images.keepForMessage('one', [image]);
    const second = await images.keepForMessage('two', [image]);
    expect(second).toEqual(first);
    await images.keepForNote([image]);
    expect(await segments()).toMatchObject([{ dead_bytes: 0 }]);
    expect(await read(image)).toEqual(image.bytes);
  });

  it('need no statement when they arrive again within minutes, and are kept for another hour afterwards', async () => {
    const { images, advance } = await installation();
    const image = sample();
    await images.keepForNote([image]);
    const query = vi.spyOn(db.$client, 'query');
    const keeping = () =>
      query.mock.calls.filter((call) => JSON.stringify(call[0]).includes('keep-stored-images')).length;
    expect(await images.keepForMessage('one', [image])).toEqual([]);
    expect(keeping()).toBe(0);
    advance(6 * 60_000);
    expect(await images.keepForMessage('one', [image])).toEqual([]);
    expect(await images.keepForMessage('one', [image])).toEqual([]);
    expect(keeping()).toBe(1);
  });

  it('are whole after a crash, whatever the end of the segment was then', async () => {
    const { folder, images, read, segments } = await installation();
    const acknowledged = [sample(), sample()];
    for (const each of acknowledged) await images.keepForNote([each]);
    const [{ name }] = await segments();
    const path = join(folder, 'segments', name);
    const whole = (await stat(path)).size;
    // What a group had written that was not acknowledged: any part of it.
    for (const left of [1, HEADER_BYTES, HEADER_BYTES + 500]) {
      await truncate(path, whole);
      await appendFile(path, randomBytes(left));
      for (const each of acknowledged) expect(await read(each)).toEqual(each.bytes);
    }
    // Another process goes on in a segment of its own.
    const next = new Images({ db, log, files: imageFilesAt(folder), now: Date.now });
    const later = sample();
    await next.keepForNote([later]);
    expect(await read(later)).toEqual(later.bytes);
    expect(await segments()).toHaveLength(2);
    await next[Symbol.asyncDispose]();
  });

  it('cannot be recorded in a segment that was removed', async () => {
    const { images } = await installation();
    const { bytes, ...image } = sample();
    const place = { segment: 999, position: HEADER_BYTES };
    await expect(recordImages(db, [{ ...image, bytes: bytes.length, place }])).rejects.toMatchObject({
      code: '23503',
    });
    expect(await images.find(image.sha256)).toBeNull();
    const put = async () => place;
    const late = new Images({
      db,
      log,
      files: images.files,
      now: Date.now,
      sink: { put, async [Symbol.asyncDispose]() {} },
    });
    await expect(late.keepForNote([sample()])).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

describe('the space of removed images', () => {
  it('comes back, and the other images of the segment stay', async () => {
    const { folder, images, parts, read, segments, remove } = await installation();
    const all = Array.from({ length: 8 }, () => sample());
    for (const each of all) await images.keepForNote([each]);
    const gone = all.slice(0, 3);
    const [before] = await segments();
    await remove(...gone);
    await rewriteSegments(parts);
    const after = await segments();
    expect(after).toHaveLength(1);
    expect(after[0].name).not.toBe(before.name);
    expect(after[0].name.slice(0, 7)).toBe(before.name.slice(0, 7));
    expect(await readdir(join(folder, 'segments'))).toEqual([after[0].name]);
    expect(after[0].bytes).toBe(5 * (HEADER_BYTES + 1_000));
    for (const each of all.slice(3)) expect(await read(each)).toEqual(each.bytes);
    for (const { bytes } of gone) {
      expect((await readFile(join(folder, 'segments', after[0].name))).includes(bytes)).toBe(false);
    }
  });

  it('comes back at once if nothing is left in the segment, and not while a process appends to it', async () => {
    const { folder, images, parts, segments, remove } = await installation();
    const image = sample();
    await images.keepForNote([image]);
    await gantry.pool.query('DELETE FROM images');
    await gantry.pool.query('UPDATE image_segments SET dead_bytes = 1000, dead_since = now()');
    await rewriteSegments(parts);
    expect(await segments()).toHaveLength(1);
    await remove();
    await rewriteSegments(parts);
    expect(await segments()).toEqual([]);
    expect(await readdir(join(folder, 'segments'))).toEqual([]);
  });

  it('is left for later if little of the segment is dead, but not for more than a week', async () => {
    const { images, parts, segments, remove } = await installation();
    const all = Array.from({ length: 10 }, () => sample());
    for (const each of all) await images.keepForNote([each]);
    await remove(all[0] as Sample);
    const [before] = await segments();
    await rewriteSegments(parts);
    expect((await segments())[0].name).toBe(before.name);
    await gantry.pool.query(`UPDATE image_segments SET dead_since = now() - interval '8 days'`);
    await rewriteSegments(parts);
    expect((await segments())[0].name).not.toBe(before.name);
  });

  it('comes back from a segment that a process left open long ago, and not earlier', async () => {
    const { images, parts, segments } = await installation();
    const [kept, gone] = [sample(), sample()];
    await images.keepForNote([gone]);
    await images.keepForNote([kept]);
    const { sha256 } = gone;
    await gantry.pool.query(`DELETE FROM images WHERE encode(sha256, 'hex') = $1`, [sha256]);
    await rewriteSegments(parts);
    expect(await segments()).toMatchObject([{ bytes: null }]);
    await gantry.pool.query(`UPDATE image_segments SET opened_at = now() - interval '25 hours'`);
    await rewriteSegments(parts);
    expect(await segments()).toMatchObject([{ bytes: HEADER_BYTES + kept.bytes.length, dead_bytes: 0 }]);
  });

  it('does not come back from a segment with a damaged image, which is reported', async () => {
    const { files, images, parts, read, segments, remove } = await installation();
    const [gone, damaged, fine] = [sample(), sample(), sample()];
    for (const each of [gone, damaged, fine]) await images.keepForNote([each]);
    const app = { context: { images: { files, find: (sha256: string) => images.find(sha256) } } };
    await damageStored({ app: app as never }, damaged.sha256, null);
    await remove(gone);
    await rewriteSegments(parts);
    expect(await segments()).toHaveLength(2);
    expect(await read(fine)).toEqual(fine.bytes);
    await expect(read(damaged)).rejects.toThrow('not the one that was received');
    expect(await gantry.count('damaged_images')).toBe(1);
  });

  it('comes back while images are read', async () => {
    const { images, parts, read, remove } = await installation();
    const all = Array.from({ length: 60 }, () => sample());
    for (const each of all) await images.keepForNote([each]);
    await remove(...all.slice(0, 30));
    let isOver = false;
    const reading = (async () => {
      while (!isOver) for (const each of all.slice(30)) expect(await read(each)).toEqual(each.bytes);
    })();
    await rewriteSegments(parts);
    isOver = true;
    await reading;
  });
});

describe('images with files of their own', () => {
  const asFile = async (of: Awaited<ReturnType<typeof installation>>, image: Sample): Promise<void> => {
    const { bytes, ...rest } = image;
    await of.files.blobs.put(image.sha256, bytes);
    await recordImages(db, [{ ...rest, bytes: bytes.length, place: null }]);
  };

  it('are served, and moved to segments of their months', async () => {
    const own = await installation();
    const [old, recent] = [sample(), sample()];
    for (const each of [old, recent]) await asFile(own, each);
    await gantry.pool.query(
      `UPDATE images SET touched_at = '2025-03-31T23:30:00Z' WHERE encode(sha256, 'hex') = $1`,
      [old.sha256],
    );
    expect(await own.read(old)).toEqual(old.bytes);
    await moveFilesToSegments(own.parts);
    for (const each of [old, recent]) {
      expect(await own.read(each)).toEqual(each.bytes);
      expect((await own.images.find(each.sha256))?.segment).not.toBeNull();
    }
    expect((await own.images.find(old.sha256))?.segment?.slice(0, 7)).toBe('2025-03');
    expect(await readdir(own.folder)).toEqual(['segments']);
  });

  it('stay if they are damaged, and so does a file that the database does not name', async () => {
    const own = await installation();
    const [damaged, unknown] = [sample(), sample()];
    await asFile(own, damaged);
    await own.files.blobs.put(damaged.sha256, randomBytes(1_000));
    await own.files.blobs.put(unknown.sha256, unknown.bytes);
    await moveFilesToSegments(own.parts);
    expect(await own.files.blobs.stat(damaged.sha256)).toEqual({ bytes: 1_000 });
    expect(await own.files.blobs.stat(unknown.sha256)).toEqual({ bytes: 1_000 });
    expect(await gantry.count('damaged_images')).toBe(1);
  });

  it('lose their files although a process ended between moving them and removing those', async () => {
    const own = await installation();
    const image = sample();
    await own.images.keepForNote([image]);
    await own.files.blobs.put(image.sha256, image.bytes);
    await moveFilesToSegments(own.parts);
    expect(await own.files.blobs.stat(image.sha256)).toBeNull();
    expect(await own.read(image)).toEqual(image.bytes);
  });
});
