import { z } from 'zod';

/** What is stored and how much room it takes. */
export const storageStats = z.object({
  databaseBytes: z.number().describe('Size of the whole database on disk, in bytes.'),
  eventCount: z.number(),
  oldestEvent: z.date().nullable(),
  newestEvent: z.date().nullable(),
});
export type StorageStats = z.infer<typeof storageStats>;
