import { GantryError } from '@gantry/client';
import type { SystemSettings } from '@gantry/contract/system';
import { featureOff } from '@gantry/contract/values';
import { useQuery } from '@tanstack/react-query';
import { service } from './service.ts';

type Features = SystemSettings['features'];

/** What an operator may have switched off changes when the service starts, in milliseconds. */
const STALE_MS = 300_000;

/** The features of the service; undefined until they are known. */
export function useFeatures(): Features | undefined {
  return useQuery({ ...service.system.getSettings.queryOptions(), staleTime: STALE_MS }).data?.features;
}

/** Whether the service has the feature. Until it is known: yes. */
export function useHasFeature(feature: keyof Features): boolean {
  return useFeatures()?.[feature] !== false;
}

/** Whether the service refused a call because the feature is switched off. The watchlist has no other sign of that. */
export function isFeatureOff(error: unknown, feature: string): boolean {
  return error instanceof GantryError && error.code === 'FORBIDDEN' && error.message === featureOff(feature);
}
