import type { TimezoneSettings } from '@gantry/contract/system';
import { keepLatest } from './latest.ts';

/** The time zone settings, read often and changed rarely, so they are kept in memory. */
export interface SettingsCache {
  current(): TimezoneSettings;
  /** The previous time zones, as far back as a device may repeat an event; usually none. */
  formerZones(): readonly string[];
  /** Reads them again, after a process notified others of a change. */
  refresh(): Promise<void>;
}

/**
 * @param load reads the settings from the database
 * @param loadFormer reads the previous time zones
 */
export async function createSettingsCache(
  load: () => Promise<TimezoneSettings>,
  loadFormer: () => Promise<readonly string[]> = async () => [],
): Promise<SettingsCache> {
  const latest = await keepLatest(async () => {
    const [settings, former] = await Promise.all([load(), loadFormer()]);
    return { settings, former };
  });
  return {
    current: () => latest.current().settings,
    formerZones: () => latest.current().former,
    refresh: latest.refresh,
  };
}
