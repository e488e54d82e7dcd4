import type { TimezoneSettings } from '@gantry/contract/system';
import { useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { createTimeFormat, type TimeFormat } from './format.ts';
import { useTimeSettings, useZone } from './zone.ts';

/** The formats of the user's zone and language. */
export function useTime(): TimeFormat {
  const settings = useTimeSettings();
  const zone = useZone();
  const { i18n } = useTranslation();
  const { language } = i18n;
  if (latest?.zone !== zone || latest.language !== language || latest.settings !== settings) {
    latest = { zone, language, settings, format: createTimeFormat(zone, language, settings) };
  }
  return latest.format;
}

/** All cells of all lists write times in the same way, and a format is expensive to create. */
let latest: {
  readonly zone: string;
  readonly language: string;
  readonly settings: TimezoneSettings;
  readonly format: TimeFormat;
} | null = null;

/**
 * The formats of the zone of the service, whatever the user's choice: for figures of its hours and days, which would be
 * others in UTC.
 */
export function useServiceTime(): TimeFormat {
  const settings = useTimeSettings();
  const { i18n } = useTranslation();
  return useMemo(
    () => createTimeFormat(settings.timezone, i18n.language, settings),
    [i18n.language, settings],
  );
}

/** The time now, in milliseconds since 1970, again every `everyMs`. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
