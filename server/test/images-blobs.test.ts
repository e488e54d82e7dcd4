import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import S3rver from 's3rver';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BlobStore, createDiskBlobs, createS3Blobs } from '../src/images/blobs.ts';
import { startGantry } from './harness.ts';
import { dataUrl, png } from './sample-images.ts';

interface Place {
  readonly blobs: BlobStore;
  close(): Promise<void>;
}

const onDisk = async (): Promise<Place> => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-blobs-'));
  return {
    blobs: createDiskBlobs(join(folder, 'images')),
    close: () => rm(folder, { recursive: true, force: true }),
  };
};

const startS3 = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'gantry-s3-'));
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: 'gantry', configs: [] }],
  });
  const { port }: AddressInfo = await server.run();
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async close() {
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
};

const inS3 = async (): Promise<Place> => {
  const server = await startS3();
  const blobs = await createS3Blobs({
    bucket: 'gantry',
    endpoint: server.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
  });
  return {
    blobs,
    async close() {
      await blobs[Symbol.asyncDispose]();
      await server.close();
    },
  };
};

const bytesOf = async (stream: Readable | null): Promise<Buffer | null> =>
  stream && Buffer.concat(await stream.toArray());
const listed = async (blobs: BlobStore) => {
  const found: { key: string; bytes: number }[] = [];
  for await (const each of blobs.list()) found.push(each);
  return found;
};
const keyOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe.each([
  ['on disk', onDisk],
  ['in an S3-compatible store', inS3],
])('files %s', (_where, open) => {
  let place: Place;
  beforeAll(async () => {
    place = await open();
  });
  afterAll(() => place.close());

  const bytes = randomBytes(100_000);
  const key = keyOf(bytes);

  it('are returned as they were stored', async () => {
    await place.blobs.put(key, bytes);
    expect(await bytesOf(await place.blobs.get(key))).toEqual(bytes);
    expect(await place.blobs.stat(key)).toEqual({ bytes: bytes.length });
  });

  it('may be stored twice, and by many at once', async () => {
    await Promise.all(Array.from({ length: 5 }, () => place.blobs.put(key, bytes)));
    expect(await bytesOf(await place.blobs.get(key))).toEqual(bytes);
    const found = await listed(place.blobs);
    expect(found).toEqual([{ key, bytes: bytes.length }]);
  });

  it('that do not exist are null', async () => {
    const unknown = keyOf(randomBytes(8));
    expect(await place.blobs.get(unknown)).toBeNull();
    expect(await place.blobs.stat(unknown)).toBeNull();
    await place.blobs.delete(unknown);
  });

  it('are listed until they are deleted', async () => {
    const other = randomBytes(10);
    await place.blobs.put(keyOf(other), other);
    const keys = (await listed(place.blobs)).map((each) => each.key);
    expect(keys.sort()).toEqual([key, keyOf(other)].sort());
    await place.blobs.delete(key);
    expect(await place.blobs.get(key)).toBeNull();
    expect(await listed(place.blobs)).toEqual([{ key: keyOf(other), bytes: 10 }]);
  });
});

describe('a store that is unavailable', () => {
  it('reports an error instead of a missing file', async () => {
    const place = await inS3();
    await place.close();
    const blobs = await createS3Blobs({
      bucket: 'gantry',
      endpoint: 'http://127.0.0.1:9',
      region: 'us-east-1',
      credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    });
    await expect(blobs.get('0'.repeat(64))).rejects.toThrow();
    await expect(blobs.put('0'.repeat(64), Buffer.from('x'))).rejects.toThrow();
  });
});

describe('a service with an S3-compatible store', () => {
  it('stores images there, and refuses events with one while it is unavailable', async () => {
    const server = await startS3();
    await using gantry = await startGantry({
      config: {
        S3_BUCKET: 'gantry',
        S3_ENDPOINT: server.endpoint,
        S3_ACCESS_KEY_ID: 'S3RVER',
        S3_SECRET_ACCESS_KEY: 'S3RVER',
      },
    });
    const apiKey = await gantry.registerSensor();
    const token = await gantry.tokenFor('VIEWER');
    const report = (bytes: Buffer) =>
      gantry.call('events.ingest', {
        apiKey,
        eventType: 'VEHICLE_DETECTION',
        images: [dataUrl(bytes, 'image/png')],
      });
    const bytes = png({ shade: 1 });
    expect((await report(bytes)).status).toBe(200);
    const headers = { authorization: `Bearer ${token}` };
    const address = `${gantry.url}/images/${keyOf(bytes)}`;
    const part = await fetch(address, { headers: { ...headers, range: 'bytes=1-3' } });
    expect([part.status, await part.text()]).toEqual([206, 'PNG']);
    await server.close();
    const refused = await report(png({ shade: 2 }));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await fetch(address, { headers })).status).toBe(503);
    // Events whose images are stored already do not require the store.
    expect((await report(bytes)).status).toBe(200);
  });
});
