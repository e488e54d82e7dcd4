import { DAY_MS, HOUR_MS } from '@gantry/contract/durations';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { createTimeFormat } from '../time/format.ts';
import { useServiceTime } from '../time/use-time.ts';
import { useTimeSettings, useUtc } from '../time/zone.ts';

/**
 * The label of an interval, in the zone of the service, in which it was counted. The second line is the UTC offset or,
 * for users who have chosen UTC, the start in UTC. A whole day is labelled with its date.
 */
export function useIntervalText(): (start: Date, end: Date) => string[] {
  const { t, i18n } = useTranslation('chart');
  const time = useServiceTime();
  const settings = useTimeSettings();
  const utc = useUtc();
  return useMemo(() => {
    const inUtc = createTimeFormat('UTC', i18n.language, settings);
    const weekday = new Intl.DateTimeFormat(i18n.language, { weekday: 'short', timeZone: time.zone });
    return (start, end) => {
      const isDay = end.getTime() - start.getTime() >= DAY_MS - HOUR_MS;
      const day = `${weekday.format(start)} ${time.date(start)}`;
      const lines = [isDay ? day : `${day} ${time.minute(start)}–${time.minute(end)}`];
      const isOther = utc && time.zone !== 'UTC';
      return isOther
        ? [...lines, t('utc', { time: `${inUtc.date(start)} ${inUtc.minute(start)}` })]
        : [...lines, time.offset(start)];
    };
  }, [t, i18n.language, time, settings, utc]);
}
