import { z } from 'zod';
import { isStorableText, UNSTORABLE } from './text.ts';

/** An id as input. Its format is not checked: a text that is not an existing id is simply not found. */
export const id = z.string().min(1, 'Must not be empty').max(1000, 'Use at most 1000 characters');

/** An id that is stored as it is given, such as one in a stored filter. */
export const storedId = id.refine(isStorableText, UNSTORABLE);

export const byId = z.object({ id });

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether the text has the format of the ids that this service creates. */
export function isUuid(value: string): boolean {
  return UUID.test(value);
}
