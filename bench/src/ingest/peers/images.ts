import { hash } from 'node:crypto';
import { mkdir, open, rename } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { announce } from './announce.ts';

// The lower bound for messages with an image: the cost of receiving the bytes, hashing the image and storing it durably in a
// file of its own (write, fsync, rename, fsync of the folder), without reading the message or a database.

const { folder }: { folder: string } = JSON.parse(process.argv[2] ?? '{}');
const JPEG = Buffer.from([0xff, 0xd8, 0xff]);

async function synchronise(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync();
  await handle.close();
}

async function store(image: Buffer): Promise<void> {
  const name = hash('sha256', image, 'hex');
  const inside = join(folder, name.slice(0, 2));
  await mkdir(inside, { recursive: true });
  const draft = join(inside, `${name}.new`);
  const file = await open(draft, 'w');
  await file.writeFile(image);
  await file.sync();
  await file.close();
  await rename(draft, join(inside, name));
  await synchronise(inside);
}

announce(
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const body = Buffer.concat(chunks);
      await store(body.subarray(body.indexOf(JPEG), body.lastIndexOf('\r\n--')));
      response.end();
    });
  }),
);
