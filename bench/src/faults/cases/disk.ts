import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Fault, Scene } from '../fault.ts';
import { makeImage } from '../image.ts';

const run = promisify(execFile);

/** Mounts a file system in memory with a size limit, as a small disk. */
async function mount(folder: string, megabytes: number, onEnd: Scene['onEnd']): Promise<void> {
  await mkdir(folder, { recursive: true });
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0711`, 'tmpfs', folder]);
  onEnd(() => run('umount', ['-l', folder]));
}

/** Mounts a file system of 64 MB in a file, which can be frozen. */
async function mountImage(file: string, folder: string, onEnd: Scene['onEnd']): Promise<void> {
  await mkdir(folder, { recursive: true });
  await run('truncate', ['-s', '64M', file]);
  await run('mkfs.ext4', ['-q', file]);
  await run('mount', ['-o', 'loop', file, folder]);
  onEnd(() => run('umount', ['-l', folder]));
}

/** Makes the mounted folder read-only. Tries for two seconds, because it fails while a file in it is open for writing. */
async function makeReadOnly(folder: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await run('mount', ['-o', 'remount,ro', folder]);
      return;
    } catch (error) {
      if (attempt === 200) throw error;
      await sleep(10);
    }
  }
}

async function needsRoot(): Promise<string | null> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root can mount a small disk';
  return null;
}

/** Writes to a file until the disk is full. @returns the path of the file */
async function fill(folder: string): Promise<string> {
  const file = join(folder, 'filler');
  const megabyte = randomBytes(1 << 20);
  for (const size of [1 << 20, 1 << 12]) {
    try {
      for (;;) await writeFile(file, megabyte.subarray(0, size), { flag: 'a' });
    } catch {
      // The disk is full, but may have room for smaller writes.
    }
  }
  return file;
}

/** Makes functions of the C library fail: the package fiu-utils of Debian. */
const FIU = '/usr/lib/fiu';

async function needsFiu(): Promise<string | null> {
  const found = await access(`${FIU}/fiu_posix_preload.so`).then(
    () => true,
    () => false,
  );
  return found ? null : 'fiu-utils (libfiu) is not installed';
}

async function readEventId(response: Response): Promise<string> {
  return String(JSON.parse(await response.text()).result.data.json.eventId);
}

/** Sends events with images for some time. The image of each acknowledged event must be served afterwards. */
async function sendImages({ destination, client, breach }: Scene, ms: number): Promise<void> {
  const until = performance.now() + ms;
  const kept: string[] = [];
  while (performance.now() < until) {
    const body = JSON.stringify({
      json: { apiKey: destination.apiKeys[0], eventType: 'PLATE_RECOGNITION', images: [makeImage(40_000)] },
    });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${destination.url}/trpc/events.ingest`, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(35_000),
    }).catch(() => null);
    if (response?.status === 200) kept.push(await readEventId(response));
    else if (response && ![408, 429, 503].includes(response.status))
      breach(
        `an event with an image was answered ${response.status}: ${(await response.text()).slice(0, 200)}`,
      );
    await sleep(50);
  }
  for (const id of kept) {
    const { images } = await client.api.events.getById.query({ id });
    for (const address of images) {
      const headers = { authorization: `Bearer ${client.token}` };
      const image = await fetch(new URL(address, destination.url), { headers });
      // An unread body would delay the end of the service, as any slow reader does.
      await image.arrayBuffer();
      const { status } = image;
      if (status !== 200) breach(`the image of event ${id}, which was acknowledged, is answered ${status}`);
    }
  }
}

export const disk: readonly Fault[] = [
  {
    name: 'disk-full',
    title: 'the disk of the database full for 8 s, and then freed',
    recoversWithin: 30,
    isQuick: true,
    obstacle: needsRoot,
    async prepare({ dataDir, onEnd }) {
      await mount(dataDir, 400, onEnd);
    },
    async run({ target }) {
      const filler = await fill(target.dataDir);
      await sleep(8_000);
      await rm(filler);
    },
  },
  {
    name: 'images-read-only',
    title: 'the service restarted while the folder of images is read-only for 5 s',
    recoversWithin: 10,
    isQuick: false,
    obstacle: needsRoot,
    async prepare({ dataDir, onEnd }) {
      await mount(join(dataDir, 'images'), 64, onEnd);
    },
    async run(scene) {
      const folder = join(scene.target.dataDir, 'images');
      const sending = sendImages(scene, 7_000);
      // It is awaited below. If the scene fails before that, a rejection must not be unhandled.
      sending.catch(() => undefined);
      await sleep(1_000);
      // It keeps a segment open for writing, and with that nothing can be made read-only.
      await scene.target.stop();
      await makeReadOnly(folder);
      await scene.target.start();
      await sleep(4_000);
      await run('mount', ['-o', 'remount,rw', folder]);
      await sending;
    },
  },
  {
    name: 'images-full',
    title: 'the folder of images full for 5 s',
    recoversWithin: 10,
    isQuick: false,
    obstacle: needsRoot,
    async prepare({ dataDir, onEnd }) {
      await mount(join(dataDir, 'images'), 8, onEnd);
    },
    async run(scene) {
      const sending = sendImages(scene, 7_000);
      // It is awaited below. If the scene fails before that, a rejection must not be unhandled.
      sending.catch(() => undefined);
      await sleep(1_000);
      const filler = await fill(join(scene.target.dataDir, 'images'));
      await sleep(4_000);
      await rm(filler);
      await sending;
    },
  },
  {
    name: 'images-unsynced',
    title: 'a third of the synchronisations of images failing for 6 s, as on a disk with errors',
    recoversWithin: 10,
    isQuick: false,
    // The database must not be affected: it runs separately.
    proxies: true,
    options: {
      env: {
        LD_PRELOAD: `${FIU}/fiu_run_preload.so ${FIU}/fiu_posix_preload.so`,
        FIU_CTRL_FIFO: join(tmpdir(), 'fiu-ctrl'),
      },
    },
    obstacle: needsFiu,
    async run(scene) {
      const control = (command: string) =>
        run('fiu-ctrl', ['-f', join(tmpdir(), 'fiu-ctrl'), '-c', command, String(scene.target.pid)]);
      const sending = sendImages(scene, 8_000);
      // It is awaited below. If the scene fails before that, a rejection must not be unhandled.
      sending.catch(() => undefined);
      await sleep(1_000);
      await control('enable_random name=posix/io/sync/fdatasync,probability=0.33,failinfo=5');
      await sleep(6_000);
      await control('disable name=posix/io/sync/fdatasync');
      await sending;
    },
  },
  {
    name: 'images-slow',
    title: 'the folder of images stalled for 8 s: whoever writes to it waits',
    recoversWithin: 10,
    isQuick: false,
    obstacle: needsRoot,
    async prepare({ dataDir, folder, onEnd }) {
      await mountImage(join(folder, 'images.ext4'), join(dataDir, 'images'), onEnd);
    },
    async run(scene) {
      const folder = join(scene.target.dataDir, 'images');
      const sending = sendImages(scene, 12_000);
      // It is awaited below. If the scene fails before that, a rejection must not be unhandled.
      sending.catch(() => undefined);
      await sleep(1_000);
      scene.onEnd(() => run('fsfreeze', ['-u', folder]).catch(() => undefined));
      await run('fsfreeze', ['-f', folder]);
      await sleep(8_000);
      await run('fsfreeze', ['-u', folder]);
      await sending;
    },
  },
];
