import { parse } from 'secure-json-parse';
import { excessOf } from './limits.ts';
import type { Content, MessagePart } from './message.ts';
import type { StoredPart } from './split-body.ts';
import { parseXml, UnreadableXml } from './xml.ts';

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
        ? { kind: 'image', address: picture }
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
