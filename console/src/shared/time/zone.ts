import type { TimezoneSettings } from '@gantry/contract/system';
import { useQuery } from '@tanstack/react-query';
import { createStored } from '../../ui/stored.ts';
import { service } from '../service/service.ts';

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

/** The time settings of the service; UTC and ISO dates until they are loaded. */
export function useTimeSettings(): TimezoneSettings {
  const { data } = useQuery({
    ...service.system.timezone.getTimezoneSettings.queryOptions(),
    staleTime: 300_000,
  });
  return data ?? UNTIL_KNOWN;
}

/** The time zone in which times are shown, as an IANA name. */
export function useZone(): string {
  const { timezone } = useTimeSettings();
  return useUtc() ? 'UTC' : timezone;
}

/** Whether the time settings of the service are loaded. Until then, its current day is unknown. */
export function useIsTimeKnown(): boolean {
  const { data } = useQuery({
    ...service.system.timezone.getTimezoneSettings.queryOptions(),
    staleTime: 300_000,
  });
  return data !== undefined;
}
