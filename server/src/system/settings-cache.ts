import type { TimezoneSettings } from '@gantry/contract/system';

/** The time zone settings as this process knows them: read on every use, changed seldom, so kept in memory. */
export interface SettingsCache {
  current(): TimezoneSettings;
  /** Reads them anew, after a process announced a change. */
  refresh(): Promise<void>;
}

/** @param load reads the settings from the database */
export const createSettingsCache = async (load: () => Promise<TimezoneSettings>): Promise<SettingsCache> => {
  let settings = await load();
  let started = 0;
  let newest = 0;
  return {
    current: () => settings,
    async refresh() {
      const turn = ++started;
      const read = await load();
      // A reading that was overtaken by a later one knows less than it.
      if (turn < newest) return;
      newest = turn;
      settings = read;
    },
  };
};
