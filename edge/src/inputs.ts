import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

/** Lines that are being stored at the same time; they share an fsync. */
const MOST_AT_ONCE = 1_000;

/**
 * Passes on every line that is not blank. While many are being stored it does not read on, so that a producer that is
 * faster than the disk is slowed down by its pipe.
 */
export async function readLines(input: Readable, accept: (line: string) => Promise<void>): Promise<void> {
  const underWay = new Set<Promise<void>>();
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    const text = line.trim();
    if (text === '') continue;
    const stored = accept(text).finally(() => underWay.delete(stored));
    stored.catch(() => undefined);
    underWay.add(stored);
    if (underWay.size >= MOST_AT_ONCE) await Promise.race(underWay);
  }
  await Promise.all(underWay);
}

/**
 * Opens a serial line: raw, without echo, 8 data bits, no parity.
 * @param baud bits per second
 * @throws Error when the device does not exist or `stty` refuses the settings
 */
export async function openSerial(path: string, baud: number): Promise<Readable> {
  const kind = await stat(path);
  if (kind.isCharacterDevice()) {
    const flag = process.platform === 'darwin' ? '-f' : '-F';
    await promisify(execFile)('stty', [
      flag,
      path,
      String(baud),
      'raw',
      '-echo',
      'cs8',
      '-parenb',
      '-cstopb',
    ]);
  }
  return createReadStream(path);
}
