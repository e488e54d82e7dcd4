import { useNow, useServiceTime } from '../time/use-time.ts';
import { useIsTimeKnown } from '../time/zone.ts';

/** The current day in the service's time zone, as `2026-05-01`; null until the time zone is known. */
export function useToday(): string | null {
  const time = useServiceTime();
  const now = useNow(60_000);
  return useIsTimeKnown() ? time.isoDay(new Date(now)) : null;
}
