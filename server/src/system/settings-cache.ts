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
  return {
    current: () => settings,
    async refresh() {
      settings = await load();
    },
  };
};
