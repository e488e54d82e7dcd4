import type { ByteRange } from '../images/blobs.ts';

const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * What a Range header asks of a file (RFC 9110, 14.2).
 * @param bytes size of the file, at least 1
 * @returns null: the whole file, as for several ranges and everything that is not understood; `none` when no byte of it
 * is meant
 */
export function readRange(header: string | undefined, bytes: number): ByteRange | 'none' | null {
  const [, first, last] = RANGE.exec(header?.trim() ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return null;
  if (first === '') {
    return Number(last) === 0 ? 'none' : { start: Math.max(0, bytes - Number(last)), end: bytes - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return null;
  return start >= bytes
    ? 'none'
    : { start, end: last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1) };
}
