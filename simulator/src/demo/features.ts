import { type GantryClient, GantryError } from '@gantry/client';

/** The features of the demo that are switched on (`FEATURES`). */
export interface DemoFeatures {
  readonly incidents: boolean;
  readonly watchlist: boolean;
  readonly realtime: boolean;
}

/** Uses a login that may see the watchlist: the settings do not mention it, so a refusal means that it is off. */
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
