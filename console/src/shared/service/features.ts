import { GantryError } from '@gantry/client';
import type { SystemSettings } from '@gantry/contract/system';
import { featureOff } from '@gantry/contract/values';
import { useQuery } from '@tanstack/react-query';
import { service } from './service.ts';

type Features = SystemSettings['features'];

/** How long the features are considered fresh, in milliseconds. They change only when the service is restarted. */
const STALE_MS = 300_000;

/** The features of the service; undefined until they are loaded. */
export function useFeatures(): Features | undefined {
  return useQuery({ ...service.system.getSettings.queryOptions(), staleTime: STALE_MS }).data?.features;
}

/** Whether the feature is switched on; true until the features are loaded. */
export function useHasFeature(feature: keyof Features): boolean {
  return useFeatures()?.[feature] !== false;
}

/**
 * Whether the service refused a request because the feature is switched off. For a feature that `useFeatures` does not
 * list, such as the watchlist, this is the only way to detect it.
 */
export function isFeatureOff(error: unknown, feature: string): boolean {
  return error instanceof GantryError && error.code === 'FORBIDDEN' && error.message === featureOff(feature);
}
