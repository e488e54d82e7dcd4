import { z } from 'zod';

/** A user as other objects refer to them. */
export const person = z.object({ id: z.string(), name: z.string() });
