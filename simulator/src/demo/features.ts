import { type GantryClient, GantryError } from '@gantry/client';

/** The features of the demo that are switched on (`FEATURES`). */
export interface DemoFeatures {
  readonly incidents: boolean;
  readonly watchlist: boolean;
  readonly realtime: boolean;
}

/**
 * Finds out which features are switched on. The settings do not list the watchlist, so it is queried, and FORBIDDEN means
 * that it is off. The client must therefore be logged in as a user who may see it.
 */
export async function findFeatures({ system, watchlist }: GantryClient['api']): Promise<DemoFeatures> {
  const { features } = await system.getSettings.query();
  const hasWatchlist = await watchlist.getAll.query({ take: 1 }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof GantryError && error.code === 'FORBIDDEN') return false;
      throw error;
    },
  );
  return { incidents: features.incidents, realtime: features.realtime, watchlist: hasWatchlist };
}
