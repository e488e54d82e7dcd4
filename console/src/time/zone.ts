import type { TimezoneSettings } from '@gantry/contract/system';
import { useQuery } from '@tanstack/react-query';
import { createStored } from '../preferences/stored.ts';
import { service } from '../service/service.ts';

/** Times are shown in the zone of the service, or in UTC if that was chosen in this browser. */
const stored = createStored('utc', false, (value) => typeof value === 'boolean');
export const useUtc = stored.use;
export const setUtc = stored.set;

const UNTIL_KNOWN: TimezoneSettings = {
  timezone: 'UTC',
  use24HourFormat: true,
  dateFormat: 'YYYY-MM-DD',
  firstDayOfWeek: 1,
};

/** The service's settings of time; UTC and ISO dates until they are known. */
export function useTimeSettings(): TimezoneSettings {
  const { data } = useQuery({
    ...service.system.timezone.getTimezoneSettings.queryOptions(),
    staleTime: 300_000,
  });
  return data ?? UNTIL_KNOWN;
}

/** The zone in which times are shown: an IANA name. */
export function useZone(): string {
  const { timezone } = useTimeSettings();
  return useUtc() ? 'UTC' : timezone;
}

/** Whether the service's settings of time are known: before that nobody knows which day it is there. */
export function useIsTimeKnown(): boolean {
  const { data } = useQuery({
    ...service.system.timezone.getTimezoneSettings.queryOptions(),
    staleTime: 300_000,
  });
  return data !== undefined;
}
