import { useNow, useServiceTime } from '../time/use-time.ts';
import { useIsTimeKnown } from '../time/zone.ts';

/** Today where the service is, as `2026-05-01`; null until its zone is known. */
export function useToday(): string | null {
  const time = useServiceTime();
  const now = useNow(60_000);
  return useIsTimeKnown() ? time.isoDay(new Date(now)) : null;
}
