import { z } from 'zod';

const NUL = '\u0000';

/** What is said of text that PostgreSQL cannot store. */
export const UNSTORABLE = 'Text must not contain NUL characters or lone surrogates';

/** Whether PostgreSQL can store the text as it is: no NUL character and no half of a surrogate pair. */
export function isStorableText(text: string): boolean {
  return !text.includes(NUL) && text.isWellFormed();
}

/**
 * Text of `min` to `max` characters (Unicode code points), free of NUL and lone surrogates.
 * The length in UTF-16 units is bounded first, so that a huge text is refused before it is counted.
 */
export function text(max: number, min = 0) {
  return z
    .string()
    .max(max * 2, `Use at most ${max} characters`)
    .refine((value) => value.length <= max || characters(value) <= max, `Use at most ${max} characters`)
    .refine(
      (value) => value.length >= min && (min === 0 || characters(value) >= min),
      min === 1 ? 'Must not be empty' : `Use at least ${min} characters`,
    )
    .refine(isStorableText, UNSTORABLE)
    .meta(lengths(max, min));
}

/** Text without the blanks around it; its length is counted after they are gone. */
export function trimmedText(max: number, min = 0) {
  return z
    .string()
    .transform((value) => value.trim())
    .pipe(text(max, min))
    .meta(lengths(max, min));
}

/** What a list is searched for, without the blanks around it; nothing but blanks means "not searched". */
export function searchText(max: number) {
  return trimmedText(max)
    .transform((value) => value || undefined)
    .optional();
}

/** An optional text of which a device may also say `null` or nothing but blanks; both mean "not given". */
export function optionalText(max: number) {
  return trimmedText(max)
    .nullish()
    .transform((value) => value || null);
}

/** A text that an update may set, clear with `null`, or leave alone. */
export function editableText(max: number) {
  return trimmedText(max)
    .nullable()
    .transform((value) => value || null)
    .optional();
}

/** Counts characters as a person does (Unicode code points), not UTF-16 units. */
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** What the API documents say of a text's length. */
function lengths(max: number, min: number) {
  return { ...(min > 0 && { minLength: min }), maxLength: max };
}
