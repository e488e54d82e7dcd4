import type { TimezoneSettings } from '@gantry/contract/system';
import { useQuery } from '@tanstack/react-query';
import { createStored } from '../../ui/stored.ts';
import { api, service } from '../service/service.ts';

/** Whether times are shown in UTC instead of the time zone of the service; stored in this browser. */
const stored = createStored('utc', false, (value) => typeof value === 'boolean');
export const useUtc = stored.use;
export const setUtc = stored.set;

const UNTIL_KNOWN: TimezoneSettings = {
  timezone: 'UTC',
  use24HourFormat: true,
  dateFormat: 'YYYY-MM-DD',
  firstDayOfWeek: 1,
};

/** The settings as the service last said them, for a start without a connection. */
const kept = createStored<TimezoneSettings>(
  'timezone',
  UNTIL_KNOWN,
  (value) => typeof value === 'object' && value !== null && 'timezone' in value,
);

const query = {
  ...service.system.timezone.getTimezoneSettings.queryOptions(),
  queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
    const settings = await api.system.timezone.getTimezoneSettings.query(undefined, { signal });
    kept.set(settings);
    return settings;
  },
  staleTime: 300_000,
};

/** The time settings of the service; the last known ones until they are loaded, or UTC and ISO dates. */
export function useTimeSettings(): TimezoneSettings {
  return useQuery(query).data ?? kept.get();
}

/** The time zone in which times are shown, as an IANA name. */
export function useZone(): string {
  const { timezone } = useTimeSettings();
  return useUtc() ? 'UTC' : timezone;
}

/** Whether the time settings of the service are loaded. Until then, its current day is unknown. */
export function useIsTimeKnown(): boolean {
  return useQuery(query).data !== undefined;
}
