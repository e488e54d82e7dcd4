import type { TopLocations, TopLocationsInput } from '@gantry/contract/traffic';
import type { Parts } from './figures.ts';
import { requireRange } from './range.ts';
import { listTopLocations } from './top-store.ts';

/**
 * The locations with most traffic, the quickest, or the most above the limit.
 * @throws AppError `badRequest` for a range that ends before it starts, or is too long
 */
export const getTopLocations = async (
  { db, settings }: Parts,
  input: TopLocationsInput,
): Promise<TopLocations> => {
  const { timezone } = settings.current();
  return { timezone, locations: await listTopLocations(db, requireRange(input, timezone), input) };
};
