import { useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { createTimeFormat, type TimeFormat } from './format.ts';
import { useTimeSettings, useZone } from './zone.ts';

/** The formats of the user's zone and language. */
export function useTime(): TimeFormat {
  const settings = useTimeSettings();
  const zone = useZone();
  const { i18n } = useTranslation();
  return useMemo(() => createTimeFormat(zone, i18n.language, settings), [zone, i18n.language, settings]);
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
