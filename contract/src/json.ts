import { z } from 'zod';
import { isStorableText } from './text.ts';

/** What can be wrong with a value that a client sends as free JSON, in words for its author; null if nothing is. */
const flawIn = (value: unknown): string | null => {
  switch (typeof value) {
    case 'string':
      return isStorableText(value) ? null : 'Text must not contain NUL characters or lone surrogates';
    case 'number':
      return Number.isFinite(value) ? null : 'Numbers must be finite';
    case 'boolean':
      return null;
    case 'object':
      break;
    default:
      return 'Only JSON values can be stored';
  }
  if (value === null) return null;
  if (Array.isArray(value)) {
    for (const item of value) {
      const flaw = flawIn(item);
      if (flaw) return flaw;
    }
    return null;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null) {
    return 'Only JSON values can be stored';
  }
  for (const [key, item] of Object.entries(value)) {
    const flaw = isStorableText(key) ? flawIn(item) : flawIn(key);
    if (flaw) return flaw;
  }
  return null;
};

/** A map of text to any JSON value, as deep and large as the request's own limits let it be. */
export const jsonRecord = z.record(z.string(), z.unknown()).check((ctx) => {
  const flaw = flawIn(ctx.value);
  if (flaw) ctx.issues.push({ code: 'custom', message: flaw, input: ctx.value });
});
