import type { TimezoneSettings } from '@gantry/contract/system';
import { keepLatest } from './latest.ts';

/** The time zone settings as this process knows them: read on every use, changed seldom, so kept in memory. */
export interface SettingsCache {
  current(): TimezoneSettings;
  /** The time zones that were set before, as far back as a device may send an event again; usually none. */
  formerZones(): readonly string[];
  /** Reads them anew, after a process announced a change. */
  refresh(): Promise<void>;
}

/**
 * @param load reads the settings from the database
 * @param loadFormer reads the time zones that were set before
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
