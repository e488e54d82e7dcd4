import { z } from 'zod';

const NUL = '\u0000';

/** The message for text that PostgreSQL cannot store. */
export const UNSTORABLE = 'Text must not contain NUL characters or lone surrogates';

/** Whether PostgreSQL can store the text: no NUL character and no unpaired surrogate. */
export function isStorableText(text: string): boolean {
  return !text.includes(NUL) && text.isWellFormed();
}

/**
 * Text of `min` to `max` characters (Unicode code points), without NUL and unpaired surrogates. The length in UTF-16
 * units is checked first, so that a huge text is refused before it is counted.
 */
export function text(max: number, min = 0) {
  return z
    .string()
    .max(max * 2, { error: `Use at most ${max} characters`, abort: true })
    .refine((value) => value.length <= max || characters(value) <= max, `Use at most ${max} characters`)
    .refine(
      (value) => value.length >= min && (min === 0 || characters(value) >= min),
      min === 1 ? 'Must not be empty' : `Use at least ${min} characters`,
    )
    .refine(isStorableText, UNSTORABLE)
    .meta(lengths(max, min));
}

/** Text that is trimmed before its length is checked. */
export function trimmedText(max: number, min = 0) {
  return z
    .string()
    .transform((value) => value.trim())
    .pipe(text(max, min))
    .meta(lengths(max, min));
}

/** A search text, trimmed. A blank text means no search. */
export function searchText(max: number) {
  return trimmedText(max)
    .transform((value) => value || undefined)
    .optional();
}

/** An optional text for which a device may also send `null` or only blanks; both mean that it is not given. */
export function optionalText(max: number) {
  return trimmedText(max)
    .nullish()
    .transform((value) => value || null);
}

/** A text that an update may set, clear with `null`, or leave unchanged. */
export function editableText(max: number) {
  return trimmedText(max)
    .nullable()
    .transform((value) => value || null)
    .optional();
}

/** The number of characters (Unicode code points), not UTF-16 units. */
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** The length of a text as the API documents describe it. */
function lengths(max: number, min: number) {
  return { ...(min > 0 && { minLength: min }), maxLength: max };
}
