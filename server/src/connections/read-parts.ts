import { parse } from 'secure-json-parse';
import type { Content, MessagePart } from './message.ts';
import type { StoredPart } from './split-body.ts';
import { parseXml, UnreadableXml } from './xml.ts';

/** Deeper values are refused, because everything that reads them is recursive. */
const MAX_DEPTH = 100;

/** Maximum number of objects, arrays and simple values in one JSON text. The largest body of events has fewer. */
const MAX_VALUES = 1_000_000;

/** Control characters, which JSON does not allow in texts. Some devices send them in names that users entered. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression must match control characters
const CONTROLS = /[\x00-\x1f]/g;

/** Parses the parts of a stored message by their syntax. */
export function readParts(parts: readonly StoredPart[]): MessagePart[] {
  return parts.map(({ name, fileName, contentType, text, picture }) => ({
    name,
    fileName,
    contentType,
    content:
      picture !== null
        ? { kind: 'picture', address: picture }
        : text === null
          ? { kind: 'unreadable', reason: 'The body is neither text nor an image' }
          : contentOf(text),
  }));
}

function contentOf(text: string): Content {
  const beginning = text.trimStart().charAt(0);
  if (beginning === '<') return xmlContent(text);
  if (beginning === '{' || beginning === '[') return jsonContent(text);
  return { kind: 'text', text };
}

function xmlContent(text: string): Content {
  try {
    return { kind: 'xml', root: parseXml(text) };
  } catch (error) {
    if (error instanceof UnreadableXml) {
      const { message: reason, whole } = error;
      return { kind: 'unreadable', reason, ...(whole && { whole: { kind: 'xml', root: whole } }) };
    }
    throw error;
  }
}

function jsonContent(text: string): Content {
  const value = parseJson(text) ?? parseLines(text) ?? parseJson(text.replaceAll(CONTROLS, ' '));
  if (value === null) {
    const whole = parseWithoutEnd(text);
    const isUsable = whole !== null && excessOf(whole) === null;
    return {
      kind: 'unreadable',
      reason: 'The JSON is invalid or incomplete',
      ...(isUsable && { whole: { kind: 'json', value: whole } }),
    };
  }
  const reason = excessOf(value);
  return reason === null ? { kind: 'json', value } : { kind: 'unreadable', reason };
}

/** The value of a JSON text, without keys that would change the prototype of an object; null when the text is invalid. */
function parseJson(text: string): unknown {
  try {
    return parse(text, undefined, { protoAction: 'remove', constructorAction: 'remove' });
  } catch {
    return null;
  }
}

/** The brackets that may be missing at the end of an incomplete JSON text. */
const ENDS = ['}', ']', '}}', ']}', '}]', '}}}', '}]}', ']}}'];

/** The value of a JSON text of which only closing brackets are missing; null for any other. */
function parseWithoutEnd(text: string): unknown {
  if (!/[}\]"]$/.test(text.slice(-50).trimEnd())) return null;
  for (const end of ENDS) {
    const value = parseJson(text + end);
    if (value !== null) return value;
  }
  return null;
}

/** The values of JSON lines as an array; null when a line is not JSON. */
function parseLines(text: string): unknown[] | null {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length < 2) return null;
  const values = lines.map(parseJson);
  return values.includes(null) ? null : values;
}

/** The limit that a value exceeds, as a sentence; null if it exceeds none. */
function excessOf(value: unknown): string | null {
  let level: unknown[] = [value];
  let values = 0;
  for (let depth = 0; level.length > 0; depth++) {
    values += level.length;
    if (values > MAX_VALUES) return `The JSON has more than ${MAX_VALUES} values`;
    if (depth > MAX_DEPTH) return `The JSON is nested more than ${MAX_DEPTH} levels deep`;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return null;
}
