import { z } from 'zod';
import { MAX_BATCH_ITEMS } from './values.ts';

// The same for many in one call. Each succeeds or fails by itself.

/** The items of a batch. @param what one of them is called in messages */
export function batchOf<Item extends z.ZodType>(item: Item, what: string) {
  return z
    .array(item)
    .min(1, `Name at least one ${what}`)
    .max(MAX_BATCH_ITEMS, `Name at most ${MAX_BATCH_ITEMS} ${what}s`);
}

const error = z.object({ code: z.string(), message: z.string() });
const failed = z.object({ id: z.string(), error });

/** Results in the order of the input, each of them what was done or why it was not. */
export function batchResults<Done extends z.ZodObject>(done: Done) {
  return z.object({
    results: z
      .array(z.union([done, failed]))
      .describe(
        'One entry per item, in the order in which they were sent; those that failed have an `error`.',
      ),
  });
}
