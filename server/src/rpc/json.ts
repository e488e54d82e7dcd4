import { isUtf8 } from 'node:buffer';
import { parse } from 'secure-json-parse';
import { WireError } from './errors.ts';

/** Maximum nesting of objects and arrays in a request. */
export const MAX_DEPTH = 64;

/** Maximum number of values (members and elements) in a request. */
const MAX_NODES = 250_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

const FORBIDDEN_KEY = /forbidden prototype property/;

/**
 * Parses the JSON of a request.
 * @throws WireError PARSE_ERROR when it is not JSON; BAD_REQUEST when it is too deep, has too many values, or has a
 * key that refers to a prototype
 */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new WireError('PARSE_ERROR', 'The JSON is not valid UTF-8');
  guardStructure(bytes);
  try {
    return parse(bytes.toString('utf8'), { protoAction: 'error', constructorAction: 'error' });
  } catch (error) {
    if (error instanceof SyntaxError && FORBIDDEN_KEY.test(error.message)) {
      throw new WireError(
        'BAD_REQUEST',
        'The JSON has a key that is not allowed: __proto__ or constructor.prototype',
      );
    }
    throw new WireError('PARSE_ERROR', 'The request is not valid JSON');
  }
}

/**
 * Checks depth and number of values on the raw bytes, so that a body that is expensive to parse is refused
 * beforehand: 10 MB of `{},{},…` would block the process for seconds. Measured: 1.2 ms per MB of ordinary JSON.
 */
function guardStructure(bytes: Uint8Array): void {
  let depth = 0;
  let nodes = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at++;
      while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    } else if (byte === 0x7b || byte === 0x5b) {
      nodes++;
      if (++depth > MAX_DEPTH)
        throw new WireError('BAD_REQUEST', `The JSON nests deeper than ${MAX_DEPTH} levels`);
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--;
    } else if (byte === COMMA) {
      nodes++;
    }
    if (nodes > MAX_NODES) throw new WireError('BAD_REQUEST', `The JSON has more than ${MAX_NODES} values`);
  }
}
