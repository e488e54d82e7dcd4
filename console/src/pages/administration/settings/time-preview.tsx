import { DAY_MS } from '@gantry/contract/durations';
import type { TimezoneSettings } from '@gantry/contract/system';
import { useTranslation } from 'react-i18next';
import { createTimeFormat } from '../../../shared/time/format.ts';
import { useNow } from '../../../shared/time/use-time.ts';
import { Facts, Panel } from '../../../ui/panel.tsx';

/** A preview of how times are written with settings that are not saved yet. */
export function TimePreview({ settings }: { readonly settings: TimezoneSettings }) {
  const { t, i18n } = useTranslation('administration');
  const now = useNow();
  const format = createTimeFormat(settings.timezone, i18n.language, settings);
  const show = (moment: Date) => (
    <span dir="ltr" className="figures">
      {format.dateTime(moment)} <span className="text-muted">{format.offset(moment)}</span>
    </span>
  );
  const year = new Date(now).getUTCFullYear();
  return (
    <Panel title={t('settings.preview')}>
      <div className="flex flex-col gap-4">
        <Facts
          facts={[
            [t('settings.now'), show(new Date(now))],
            [t('settings.winter'), show(new Date(Date.UTC(year, 0, 15, 8, 5)))],
            [t('settings.summer'), show(new Date(Date.UTC(year, 6, 15, 20, 5)))],
          ]}
        />
        <Week settings={settings} now={now} />
      </div>
    </Panel>
  );
}

/** The current week, beginning with the selected first day. */
function Week({ settings, now }: { readonly settings: TimezoneSettings; readonly now: number }) {
  const { t, i18n } = useTranslation('administration');
  const format = createTimeFormat(settings.timezone, i18n.language, settings);
  const today = new Date(`${format.isoDay(new Date(now))}T00:00:00Z`);
  const back = (today.getUTCDay() - settings.firstDayOfWeek + 7) % 7;
  const name = new Intl.DateTimeFormat(i18n.language, { weekday: 'short', timeZone: 'UTC' });
  const days = Array.from({ length: 7 }, (_, at) => new Date(today.getTime() + (at - back) * DAY_MS));
  return (
    <table className="w-full max-w-md table-fixed border-separate border-spacing-0 text-center">
      <caption className="mb-1 text-start text-sm text-muted">{t('settings.week')}</caption>
      <thead>
        <tr>
          {days.map((day) => (
            <th key={day.getTime()} scope="col" className="border-b py-1 text-sm font-medium text-muted">
              {name.format(day)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <tr>
          {days.map((day) => {
            const isToday = day.getTime() === today.getTime();
            return (
              <td
                key={day.getTime()}
                aria-current={isToday ? 'date' : undefined}
                className={isToday ? 'figures rounded-md bg-selected py-1 font-semibold' : 'figures py-1'}
              >
                {day.getUTCDate()}
              </td>
            );
          })}
        </tr>
      </tbody>
    </table>
  );
}
