import { z } from 'zod';
import { isStorableText, UNSTORABLE } from './text.ts';

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The reason why a value cannot be accepted as free JSON, as a message; null if it can. */
function flawIn(value: unknown): string | null {
  switch (typeof value) {
    case 'string':
      return isStorableText(value) ? null : UNSTORABLE;
    case 'number':
      return Number.isFinite(value) ? null : 'Numbers must be finite';
    case 'boolean':
    case 'undefined':
      return null;
    case 'object':
      break;
    default:
      return 'Only JSON values can be stored';
  }
  if (value === null || value instanceof Date) return null;
  if (Array.isArray(value)) {
    for (const item of value) {
      const flaw = flawIn(item);
      if (flaw) return flaw;
    }
    return null;
  }
  if (!isPlainObject(value)) return 'Only JSON values can be stored';
  for (const key of Object.keys(value)) {
    const flaw = isStorableText(key) ? flawIn(value[key]) : flawIn(key);
    if (flaw) return flaw;
  }
  return null;
}

/** A map of text to any JSON value, neither checked nor copied. */
export const jsonObject = z
  .custom<Record<string, unknown>>(isPlainObject, 'Send an object')
  .meta({ type: 'object', additionalProperties: {} });

/**
 * A map of text to any JSON value, limited only by the limits of the request. Values restored by superjson are
 * treated as by JSON.stringify: a Date is its ISO text, and undefined is omitted. It is checked but not copied,
 * because it may be megabytes.
 */
export const jsonRecord = jsonObject
  .check((ctx) => {
    const flaw = flawIn(ctx.value);
    if (flaw) ctx.issues.push({ code: 'custom', message: flaw, input: ctx.value });
  })
  .meta({ type: 'object', additionalProperties: {} });
