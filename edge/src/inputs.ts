import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

/** Maximum number of lines that are stored concurrently, so that they share an fsync. */
const MAX_AT_ONCE = 1_000;

/**
 * If the first data of a serial line arrives at least this many milliseconds after it was opened, it begins a line.
 */
const SILENCE_MS = 500;

/**
 * Passes every line to `accept`, trimmed. While many lines are being stored it reads no further, so that
 * the pipe slows down a producer that is faster than the disk.
 * @param most maximum number of characters of a line that are passed on; the rest is skipped
 * @param isSerial whether the input is a serial line that was just opened, whose first and last lines may be incomplete
 */
export async function readLines(
  input: Readable,
  most: number,
  accept: (line: string) => Promise<void>,
  isSerial = false,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  try {
    for await (const line of linesOf(input, most, isSerial)) {
      const stored = accept(line.trim()).finally(() => underWay.delete(stored));
      stored.catch(() => undefined);
      underWay.add(stored);
      if (underWay.size >= MAX_AT_ONCE) await Promise.race(underWay);
    }
  } catch (error) {
    await Promise.allSettled(underWay);
    throw error;
  }
  await Promise.all(underWay);
}

/**
 * The lines of a text in UTF-8, truncated to `most` characters. node:readline is not used, because it does not limit the
 * length of lines, and in newer versions of Node.js it also splits at U+2028 and U+2029, which JSON text may contain.
 */
async function* linesOf(input: Readable, most: number, isSerial: boolean): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const openedAt = performance.now();
  let isPart: boolean | null = null;
  let rest = '';
  for await (const chunk of input) {
    // The rest of a line that was being sent when the serial line was opened may look like a line: 45 of A+045.
    isPart ??= isSerial && performance.now() - openedAt < SILENCE_MS;
    const [first = '', ...others] = decoder.decode(chunk as Buffer, { stream: true }).split(/[\r\n]/);
    rest = (rest + first).slice(0, most);
    for (const line of others) {
      if (!isPart) yield rest;
      isPart = false;
      rest = line.slice(0, most);
    }
  }
  if (!isSerial) yield rest;
}

/**
 * Opens a serial line: raw, without echo, 8 data bits, no parity, 1 stop bit. The path may also name a pipe or a file.
 * @param baud bits per second
 * @returns its input, and whether it is a character device
 * @throws Error when the device does not exist or `stty` refuses the settings
 */
export async function openSerial(
  path: string,
  baud: number,
): Promise<{ readonly input: Readable; readonly isSerial: boolean }> {
  const isSerial = (await stat(path)).isCharacterDevice();
  if (isSerial) {
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
  return { input: createReadStream(path), isSerial };
}
