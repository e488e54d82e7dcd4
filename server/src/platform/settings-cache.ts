import type { TimezoneSettings } from '@gantry/contract/system';

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
export const createSettingsCache = async (
  load: () => Promise<TimezoneSettings>,
  loadFormer: () => Promise<readonly string[]> = async () => [],
): Promise<SettingsCache> => {
  let [settings, former] = await Promise.all([load(), loadFormer()]);
  let started = 0;
  let newest = 0;
  return {
    current: () => settings,
    formerZones: () => former,
    async refresh() {
      const turn = ++started;
      const [read, readFormer] = await Promise.all([load(), loadFormer()]);
      // A reading that was overtaken by a later one knows less than it.
      if (turn < newest) return;
      newest = turn;
      settings = read;
      former = readFormer;
    },
  };
};
