import { createHash } from 'node:crypto';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifySample } from '../src/images/verify.ts';
import { type Gantry, startGantry } from './harness.ts';
import { damageStored, dataUrl, png } from './sample-images.ts';

// Images whose stored files are no longer those that were received.

const stores = {
  'on disk': async () => ({ config: {}, close: async () => {} }),
  'in an S3-compatible store': async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gantry-s3-'));
    const configureBuckets: { name: string; configs: [] }[] = [{ name: 'gantry', configs: [] }];
    const server = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets });
    const { port } = await server.run();
    return {
      config: {
        S3_BUCKET: 'gantry',
        S3_ENDPOINT: `http://127.0.0.1:${port}`,
        S3_ACCESS_KEY_ID: 'S3RVER',
        S3_SECRET_ACCESS_KEY: 'S3RVER',
      },
      async close() {
        await server.close();
        await rm(directory, { recursive: true, force: true });
      },
    };
  },
};

const damages = {
  'one changed bit': (bytes: Buffer): Buffer => {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(40) ^ 1, 40);
    return changed;
  },
  'a missing end': (bytes: Buffer) => bytes.subarray(0, -1),
  'another image': () => png({ shade: 200 }),
  'no bytes': () => Buffer.alloc(0),
  'no file': () => null,
};

describe.each(Object.entries(stores))('an image %s', (_where, open) => {
  let gantry: Gantry;
  let headers: Record<string, string>;
  let admin: string;
  let store: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    store = await open();
    gantry = await startGantry({ config: store.config });
    admin = await gantry.tokenFor('ADMIN');
    headers = { authorization: `Bearer ${await gantry.tokenFor('OPERATOR')}` };
  });
  afterAll(async () => {
    await gantry[Symbol.asyncDispose]();
    await store.close();
  });

  let shade = 0;
  const received = async () => {
    const bytes = png({ shade: ++shade });
    const apiKey = await gantry.registerSensor();
    await gantry.ingest(apiKey, { images: [dataUrl(bytes, 'image/png')] });
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    return { bytes, sha256, address: `/images/${sha256}` };
  };
  const replace = (sha256: string, bytes: Buffer | null) => damageStored(gantry, sha256, bytes);
  const finding = async (code: string) => {
    const { findings } = await gantry.ok('system.doctor', undefined, { token: admin });
    return findings.find((each: { code: string }) => each.code === code);
  };

  it.each(Object.entries(damages))(
    'with %s is refused, whole, in part and without its body',
    async (_what, damage) => {
      const { bytes, sha256, address } = await received();
      expect((await fetch(gantry.url + address, { headers })).status).toBe(200);
      await replace(sha256, damage(bytes));
      for (const range of [undefined, 'bytes=0-3', 'bytes=-1']) {
        const answer = await gantry.fetch(address, { headers: range ? { ...headers, range } : headers });
        expect(answer.status).toBe(502);
        expect(answer.body.error.json.data).toEqual({ code: 'IMAGE_DAMAGED', httpStatus: 502 });
        expect(answer.headers.get('content-range')).toBeNull();
      }
      const { status } = await fetch(gantry.url + address, { method: 'HEAD', headers });
      expect(status).toBe(502);
      expect(await finding('damagedImages')).toMatchObject({ level: 'PROBLEM' });
      await replace(sha256, bytes);
      const repaired = await fetch(gantry.url + address, { headers });
      expect(Buffer.from(await repaired.arrayBuffer())).toEqual(bytes);
    },
  );

  it('is verified by the nightly sample, which also clears what is right again', async () => {
    const [fine, changed] = [await received(), await received()];
    await replace(changed.sha256, damages['one changed bit'](changed.bytes));
    let found = 0;
    const { db, log, images } = gantry.app.context;
    const verify = () =>
      verifySample({ db, log, files: images.files, zone: () => 'UTC', onDamaged: () => void found++ });
    await verify();
    expect(found).toBe(1);
    expect(await finding('damagedImages')).toMatchObject({ values: { images: 1, first: changed.sha256 } });
    await replace(changed.sha256, changed.bytes);
    await verify();
    expect(found).toBe(1);
    expect(await finding('damagedImages')).toBeUndefined();
    expect((await finding('imagesFine')).values.images).toBeGreaterThan(1);
    expect((await fetch(gantry.url + fine.address, { headers })).status).toBe(200);
  });

  it('is refused if all of its segment is missing', async () => {
    const { sha256, address } = await received();
    const { images } = gantry.app.context;
    const image = await images.find(sha256);
    if (image?.segment == null) return;
    const path = images.files.segments.pathOf(image.segment);
    await rename(path, `${path}-away`);
    expect((await fetch(gantry.url + address, { headers })).status).toBe(502);
    await rename(`${path}-away`, path);
    expect((await fetch(gantry.url + address, { headers })).status).toBe(200);
  });

  it('is counted in the metrics when it is found damaged', async () => {
    const { sha256, address } = await received();
    const counted = async () =>
      Number(/gantry_damaged_images_total (\d+)/.exec((await gantry.fetch('/metrics')).body)?.[1]);
    const before = await counted();
    await replace(sha256, null);
    await gantry.fetch(address, { headers });
    expect(await counted()).toBe(before + 1);
  });
});
