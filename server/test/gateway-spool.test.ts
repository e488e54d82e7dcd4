import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSegment } from '@gantry/spool/segment';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Incoming } from '../src/devices/incoming.ts';
import { MessageSpool } from '../src/devices/spool.ts';
import { unavailable } from '../src/platform/error.ts';
import { readSpoolState } from '../src/platform/spool-folder.ts';
import { suiteLog } from './leaks.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-spool-'));
});
afterEach(() => rm(folder, { recursive: true }));

const spoolOf = (maxBytes = 1e9) =>
  new MessageSpool({ folder, maxBytes, log: suiteLog(), report: () => undefined });

const message = (receivedAt: number, body: Buffer | string = 'body'): Incoming => ({
  connection: { id: randomUUID(), format: 'gantry' },
  receivedAt,
  method: 'POST',
  path: '/a',
  topic: null,
  contentType: 'application/json',
  encoding: null,
  body: Buffer.from(body),
});

/** Puts a message on disk as earlier builds of the service did. */
const putFormer = async (id: string, { body, ...rest }: Incoming, digest?: string): Promise<void> => {
  const content = Buffer.concat([Buffer.from(`${JSON.stringify({ ...rest, id })}\n`), body]);
  const name = `${String(rest.receivedAt).padStart(15, '0')}-${id}.message`;
  const sum = digest ?? createHash('sha256').update(content).digest('hex');
  await writeFile(join(folder, name), Buffer.concat([Buffer.from(sum), content]));
};

const playAll = async (spool: MessageSpool) => {
  const stored: { id: string; incoming: Incoming }[] = [];
  await spool.play(
    async (id, incoming) => stored.push({ id, incoming }),
    () => false,
  );
  return stored;
};

describe('messages of devices on disk', () => {
  it('come back with everything that they had, also arbitrary bytes, and leave nothing behind', async () => {
    const kept = message(7, Buffer.concat([Buffer.from('\n\x1b\x00'), randomBytes(5_000)]));
    expect(await spoolOf().put('id', kept)).toBe(true);
    expect(await playAll(spoolOf())).toEqual([{ id: 'id', incoming: kept }]);
    expect(await readdir(folder)).toEqual([]);
  });

  it('that arrive at the same time share segments', async () => {
    const spool = spoolOf();
    const kept = await Promise.all([1, 2, 3, 4, 5].map((at) => spool.put(`id-${at}`, message(at))));
    expect(kept).toEqual([true, true, true, true, true]);
    expect(await readdir(folder)).toHaveLength(1);
    expect(await readSpoolState(folder)).toMatchObject({ messages: 5, oldestAt: 1, aside: 0 });
  });

  it('are stored in the order of their receipt, whichever process and build wrote them', async () => {
    await putFormer('d', message(4));
    const [one, other] = [spoolOf(), spoolOf()];
    await Promise.all([one.put('b', message(2)), one.put('e', message(5)), one.put('a', message(1))]);
    await Promise.all([other.put('c', message(3)), other.put('f', message(6))]);
    expect((await playAll(one)).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(await readdir(folder)).toEqual([]);
  });

  it('stay until the database is available, and are stored once more if a segment is not finished', async () => {
    const spool = spoolOf();
    await Promise.all([1, 2, 3].map((at) => spool.put(`id-${at}`, message(at))));
    const seen: string[] = [];
    const store = async (id: string) => {
      seen.push(id);
      if (id === 'id-3') throw unavailable('The database is down');
    };
    await spool.play(store, () => false);
    expect(seen).toEqual(['id-1', 'id-2', 'id-3']);
    expect((await playAll(spool)).map(({ id }) => id)).toContain('id-3');
    expect(await readdir(folder)).toEqual([]);
  });

  it('that cannot be stored are left aside, whole, and do not block the others', async () => {
    const spool = spoolOf();
    for (const at of [1, 2]) await spool.put(`id-${at}`, message(at, `body ${at}`));
    await putFormer('cut off', message(3), '0'.repeat(64));
    const stored: string[] = [];
    const store = async (id: string) => {
      if (id === 'id-1') throw new Error('It cannot be stored');
      stored.push(id);
    };
    await spool.play(store, () => false);
    expect(stored).toEqual(['id-2']);
    expect(await readSpoolState(folder)).toMatchObject({ messages: 0, oldestAt: null, aside: 2 });
    const [aside = ''] = (await readdir(folder)).sort();
    const { records } = await readSegment(join(folder, aside));
    expect(String(records[0])).toMatch(/"id":"id-1"\}\nbody 1$/);
  });

  it('of a damaged segment are stored, apart from those that are damaged', async () => {
    const spool = spoolOf();
    await spool.put('first', message(1));
    await Promise.all([spool.put('second', message(2)), spool.put('third', message(3, 'dull'))]);
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      await writeFile(path, (await readFile(path, 'latin1')).replace('dull', 'dumb'), 'latin1');
    }
    expect((await playAll(spool)).map(({ id }) => id)).toEqual(['first', 'second']);
    expect(await readSpoolState(folder)).toMatchObject({ messages: 0, aside: 1 });
  });

  it('find their space although a killed process left incomplete ones', async () => {
    const [left, beingWritten] = ['1-a.part', '2-b.part'].map((name) => join(folder, name)) as [
      string,
      string,
    ];
    await writeFile(left, Buffer.alloc(900));
    await utimes(left, new Date(), new Date(Date.now() - 2 * 3_600_000));
    const large = message(Date.now(), Buffer.alloc(600));
    expect(await spoolOf(1_000).put(randomUUID(), large)).toBe(true);
    expect(await readdir(folder)).toHaveLength(1);
    await writeFile(beingWritten, Buffer.alloc(900));
    expect(await spoolOf(1_000).put(randomUUID(), large)).toBe(false);
    expect(await readdir(folder)).toHaveLength(2);
  });

  it('are lost one by one when the space is full', async () => {
    const spool = spoolOf(2_000);
    const sizes = [800, 1_500, 800];
    const kept = sizes.map((size) => spool.put(randomUUID(), message(1, Buffer.alloc(size))));
    expect(await Promise.all(kept)).toEqual([true, false, true]);
  });
});
