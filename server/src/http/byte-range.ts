/** A part of a file: both positions inclusive, from 0. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * The range of a file that a Range header requests (RFC 9110, 14.2).
 * @param bytes size of the file, at least 1
 * @returns null for the whole file, including for several ranges and for headers that are not understood; `none` when
 * the range is not satisfiable
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
