import { hash, randomFillSync } from 'node:crypto';

/** The largest time that fits into the 48 bits of an id, in Unix milliseconds. */
export const MAX_ID_TIME = 2 ** 48 - 1;

/** The first 32 of the hexadecimal digits in the form of a UUID. */
export function uuidOf(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

const DIGITS = Buffer.from('0123456789abcdef', 'latin1');

/** The position of the digits of each of the 16 bytes in the text of a UUID. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/** The text is built in place: 0.10 µs for an id, compared with 0.41 µs by concatenation. */
const text = Buffer.from('00000000-0000-7000-8000-000000000000', 'latin1');

// Random bytes are generated for many ids at once: a call for each id would cost more than the rest of it.
const pool = Buffer.alloc(10 * 512);
let used = pool.length;

/** A new id for an event at `time` (Unix milliseconds): a UUID of version 7 (RFC 9562), so that ids sort by time. */
export function newEventId(time: number): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += 10;
  return layOut(time, pool, used - 10);
}

let previousTime = Number.NaN;
const previousTail = Buffer.alloc(10);

/** The same for what one process receives: ids of one millisecond are in the order of the calls. */
export function newIdInOrder(time: number): string {
  if (time === previousTime) {
    // The last seven bytes are a counter that began at random (RFC 9562, 6.2).
    for (let at = 9; at > 2; at--) {
      const next = ((previousTail[at] ?? 0) + 1) & 0xff;
      previousTail[at] = next;
      if (next !== 0) break;
    }
  } else {
    randomFillSync(previousTail);
    previousTime = time;
  }
  return layOut(time, previousTail, 0);
}

/** The id of an event of this sensor, key and time. It is always the same, so that a retry finds the first attempt. */
export function keyedEventId(time: number, sensorId: string, idempotencyKey: string): string {
  return layOut(time, hash('sha256', `${sensorId}\u0000${idempotencyKey}`, 'buffer'), 0);
}

/** The time (Unix milliseconds) of the event with this id. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The smallest id that an event at `time` (Unix milliseconds) or later can have. */
export function firstIdAt(time: number): string {
  return uuidOf(Math.min(Math.max(0, time), MAX_ID_TIME).toString(16).padStart(12, '0').padEnd(32, '0'));
}

function write(byte: number, index: number): void {
  const at = PLACES[index] ?? 0;
  text[at] = DIGITS[byte >> 4] ?? 0;
  text[at + 1] = DIGITS[byte & 0x0f] ?? 0;
}

function layOut(time: number, tail: Uint8Array, from: number): string {
  const high = Math.floor(time / 2 ** 32);
  const low = time % 2 ** 32;
  write(high >> 8, 0);
  write(high & 0xff, 1);
  for (let index = 2; index < 6; index++) write((low >>> (8 * (5 - index))) & 0xff, index);
  for (let index = 6; index < 16; index++) write(tail[from + index - 6] ?? 0, index);
  write(((tail[from] ?? 0) & 0x0f) | 0x70, 6);
  write(((tail[from + 2] ?? 0) & 0x3f) | 0x80, 8);
  return text.toString('latin1');
}
