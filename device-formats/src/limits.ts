/** Deeper values and documents are refused, because everything that reads them is recursive. */
export const MAX_DEPTH = 100;

/** Maximum number of elements in one XML text. */
export const MAX_ELEMENTS = 500_000;

/** Maximum number of objects, arrays and simple values in one JSON text. The largest body of events has fewer. */
const MAX_VALUES = 1_000_000;

/** Smaller bodies have neither too many values nor too many elements. In bytes. */
const MIN_EXCESS = 1_000_000;

/**
 * Why a body that is one JSON or XML text has too many values or elements to be read, as a sentence; null if it has not,
 * and for any other body. It counts without parsing: 10 MB take some 20 ms.
 */
export function excessOfBody(body: Buffer): string | null {
  if (body.length < MIN_EXCESS) return null;
  const beginning = body
    .toString('latin1', 0, 100)
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart()
    .charAt(0);
  if (beginning === '<') {
    const elements = countOf(
      body,
      (at) => body[at] === 0x3c && !'/!?'.includes(String.fromCharCode(body[at + 1] ?? 0)),
    );
    return elements > MAX_ELEMENTS
      ? `The XML has ${elements} elements, and at most ${MAX_ELEMENTS} are read: send it in parts`
      : null;
  }
  if (beginning !== '{' && beginning !== '[') return null;
  let inText = false;
  const values = countOf(body, (at) => {
    const byte = body[at];
    if (byte === 0x22 && !isEscaped(body, at)) inText = !inText;
    return !inText && (byte === 0x2c || byte === 0x7b || byte === 0x5b);
  });
  return values > MAX_VALUES ? `The JSON has more than ${MAX_VALUES} values: send it in parts` : null;
}

function countOf(body: Buffer, matches: (at: number) => boolean): number {
  let count = 0;
  for (let at = 0; at < body.length; at++) if (matches(at)) count++;
  return count;
}

/** Whether an odd number of backslashes precedes a quote in JSON. @param at the position of the quote */
export function isEscaped(body: Buffer, at: number): boolean {
  let before = at - 1;
  while (before >= 0 && body[before] === 0x5c) before--;
  return (at - before) % 2 === 0;
}

/** The limit that a value exceeds, as a sentence; null if it exceeds none. */
export function excessOf(value: unknown): string | null {
  let values = 0;
  const excessIn = (each: unknown, depth: number): string | null => {
    if (++values > MAX_VALUES) return `The JSON has more than ${MAX_VALUES} values`;
    if (depth > MAX_DEPTH) return `The JSON is nested more than ${MAX_DEPTH} levels deep`;
    if (typeof each !== 'object' || each === null) return null;
    for (const member of Array.isArray(each) ? each : Object.values(each)) {
      const excess = excessIn(member, depth + 1);
      if (excess !== null) return excess;
    }
    return null;
  };
  return excessIn(value, 0);
}
