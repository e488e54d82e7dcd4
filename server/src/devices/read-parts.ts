import { parse } from 'secure-json-parse';
import type { Content, MessagePart } from './message.ts';
import type { StoredPart } from './split-body.ts';
import { MAX_ELEMENTS, parseXml, UnreadableXml } from './xml.ts';

/** Deeper values are refused, because everything that reads them is recursive. */
const MAX_DEPTH = 100;

/** Maximum number of objects, arrays and simple values in one JSON text. The largest body of events has fewer. */
const MAX_VALUES = 1_000_000;

/** Control characters, which JSON does not allow in texts. Some devices send them in names that users entered. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression must match control characters
const CONTROLS = /[\x00-\x1f]/g;

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

/** Whether an odd number of backslashes precedes a quote. */
function isEscaped(body: Buffer, at: number): boolean {
  let before = at - 1;
  while (before >= 0 && body[before] === 0x5c) before--;
  return (at - before) % 2 === 0;
}

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
  const kept = withLongIntegersAsTexts(text);
  const value = parseJson(kept) ?? parseLines(kept) ?? parseJson(kept.replaceAll(CONTROLS, ' '));
  if (value === null) {
    const whole = parseWithoutEnd(kept);
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

/**
 * The JSON text with quotes around the integers that a number cannot hold, whose last digits would change: identifiers
 * that differ only there would become the same.
 */
function withLongIntegersAsTexts(text: string): string {
  if (!/\d{16}/.test(text)) return text;
  let result = '';
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '"') {
      for (at++; at < text.length && text.charAt(at) !== '"'; at++) if (text.charAt(at) === '\\') at++;
      continue;
    }
    if (char !== '-' && (char < '0' || char > '9')) continue;
    let end = at + 1;
    while (/[\d.eE+-]/.test(text.charAt(end))) end++;
    const token = text.slice(at, end);
    if (token.length >= 16 && /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token))) {
      result += `${text.slice(copied, at)}"${token}"`;
      copied = end;
    }
    at = end - 1;
  }
  return copied === 0 ? text : result + text.slice(copied);
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
