import type { TimezoneSettings } from '@gantry/contract/system';
import { useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { createTimeFormat, type TimeFormat } from './format.ts';
import { useTimeSettings, useZone } from './zone.ts';

/** The time format for the chosen time zone (that of the service, or UTC) and the user's language. */
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

/** The latest format, shared by all components: a format is expensive to create, and every cell of a list needs one. */
let latest: {
  readonly zone: string;
  readonly language: string;
  readonly settings: TimezoneSettings;
  readonly format: TimeFormat;
} | null = null;

/**
 * The time format for the time zone of the service, even if the user has chosen UTC. It is for figures by hour or day,
 * which the service calculates in its own time zone.
 */
export function useServiceTime(): TimeFormat {
  const settings = useTimeSettings();
  const { i18n } = useTranslation();
  return useMemo(
    () => createTimeFormat(settings.timezone, i18n.language, settings),
    [i18n.language, settings],
  );
}

/** The current time, in milliseconds since 1970. Rerenders the component every `everyMs` milliseconds. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
