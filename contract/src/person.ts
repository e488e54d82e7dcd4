import { z } from 'zod';

/** A person as answers name them. */
export const person = z.object({ id: z.string(), name: z.string() });
