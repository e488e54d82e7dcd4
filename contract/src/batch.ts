import { z } from 'zod';
import { MAX_BATCH_ITEMS } from './values.ts';

// Inputs and results of procedures that apply one action to many items. Each item succeeds or fails by itself.

/** The input items of a batch. @param what the singular noun for an item, used in error messages */
export function batchOf<Item extends z.ZodType>(item: Item, what: string) {
  return z
    .array(item)
    .min(1, `Name at least one ${what}`)
    .max(MAX_BATCH_ITEMS, `Name at most ${MAX_BATCH_ITEMS} ${what}s`);
}

const error = z.object({ code: z.string(), message: z.string() });
const failed = z.object({ id: z.string(), error });

/** The results of a batch in the order of its input: for each item, what was done or the error. */
export function batchResults<Done extends z.ZodObject>(done: Done) {
  return z.object({
    results: z
      .array(z.union([done, failed]))
      .describe(
        'One entry per item, in the order in which they were sent; those that failed have an `error`.',
      ),
  });
}
